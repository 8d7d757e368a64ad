import { Button } from '@mantine/core';
import classes from './inline-edit.module.css';
import { Unseen } from './unseen';

interface RemovedProps {
  /** The message: `Cap removed.` */
  done: string;
  /** What the button restores, for screen readers. */
  what: string;
  disabled: boolean;
  /** Absent if undoing would do more than restore the value. */
  onUndo?: (() => void) | undefined;
}

/** Shows below an empty value that it was just removed, with an undo button if possible. */
export function Removed({ done, what, disabled, onUndo }: RemovedProps) {
  return (
    <p role="status" className={classes.removed}>
      {done}
      {onUndo && (
        <Button size="xs" variant="subtle" disabled={disabled} onClick={onUndo}>
          Undo<Unseen> for {what}</Unseen>
        </Button>
      )}
    </p>
  );
}
