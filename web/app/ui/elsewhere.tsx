import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './elsewhere.module.css';
import { Note } from './note';

interface ElsewhereProps {
  /** Begins the sentence: "The node". */
  what: string;
  /** What it is now, where that differs. */
  now: ReactNode;
  onKeep(): void;
  onDiscard(): void;
}

/** Says that what is being edited was changed elsewhere, and leaves it to the reader which of both stays. */
export function Elsewhere({ what, now, onKeep, onDiscard }: ElsewhereProps) {
  return (
    <Note
      tone="warn"
      action={
        <span className={classes.choice}>
          <Button size="xs" variant="default" onClick={onDiscard}>
            Discard mine
          </Button>
          <Button size="xs" variant="default" onClick={onKeep}>
            Keep mine
          </Button>
        </span>
      }
    >
      {what} was changed elsewhere after you began. {now}
    </Note>
  );
}
