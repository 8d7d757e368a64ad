import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './elsewhere.module.css';
import { Note } from './note';

interface ElsewhereProps {
  /** Beginning of the sentence: "The node". */
  what: string;
  /** The current values, where they differ. */
  now: ReactNode;
  onKeep(): void;
  onDiscard(): void;
}

/** Shows that the edited object was changed elsewhere, and lets the user choose which version to keep. */
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
