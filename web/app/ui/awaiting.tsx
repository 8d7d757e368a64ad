import type { ReactNode } from 'react';
import classes from './awaiting.module.css';

interface AwaitingProps {
  /** What is shown still answers another choice. */
  awaiting: boolean;
  children: ReactNode;
}

/** Figures that stay until those of another choice have come: dimmed, so that nobody takes them for these. */
export function Awaiting({ awaiting, children }: AwaitingProps) {
  return (
    <div className={classes.figures} data-awaiting={awaiting || undefined} aria-busy={awaiting}>
      {children}
    </div>
  );
}
