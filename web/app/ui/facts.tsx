import type { ReactNode } from 'react';
import classes from './facts.module.css';
import { Waiting } from './waiting';

/** The facts about one object, one per line. */
export function Facts({ children }: { children: ReactNode }) {
  return <dl className={classes.facts}>{children}</dl>;
}

/** One line of `Facts`; awaited while it has no value. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children ?? <Waiting width={160} />}</dd>
    </>
  );
}
