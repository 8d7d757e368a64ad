import type { ReactNode } from 'react';
import classes from './awaiting.module.css';

interface AwaitingProps {
  /** The figures still belong to the previous choice. */
  awaiting: boolean;
  children: ReactNode;
}

/** Keeps the figures of the previous choice until the new ones have come, dimmed so that nobody mistakes them. */
export function Awaiting({ awaiting, children }: AwaitingProps) {
  return (
    <div className={classes.figures} data-awaiting={awaiting || undefined} aria-busy={awaiting}>
      {children}
    </div>
  );
}
