import type { ReactNode } from 'react';
import classes from './facts.module.css';
import { Waiting } from './waiting';

/** What is known of one thing, line by line. */
export function Facts({ children }: { children: ReactNode }) {
  return <dl className={classes.facts}>{children}</dl>;
}

/** One line of it; without a value it is awaited. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children ?? <Waiting width={160} />}</dd>
    </>
  );
}
