import { Button } from '@mantine/core';
import classes from './inline-edit.module.css';
import { Unseen } from './unseen';

interface RemovedProps {
  /** What has been done: `Cap removed.` */
  done: string;
  /** What comes back, for who doesn't see where the button stands. */
  what: string;
  disabled: boolean;
  /** Absent where the way back would do more than that. */
  onUndo?: (() => void) | undefined;
}

/** Says below an empty value that it was just removed, with the way back if there is one. */
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
