import type { ReactNode } from 'react';
import classes from './note.module.css';

interface NoteProps {
  tone: 'good' | 'warn' | 'bad' | 'plain';
  children: ReactNode;
  /** What can be done about it. */
  action?: ReactNode;
}

/** Something that has just happened or should be known, said politely. */
export function Note({ tone, children, action }: NoteProps) {
  return (
    <div role="status" className={classes.note} data-tone={tone}>
      <div>{children}</div>
      {action}
    </div>
  );
}
