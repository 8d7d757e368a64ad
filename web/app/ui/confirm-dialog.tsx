import { Button } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { ShownError } from '../graphql/errors';
import { Dialog, DialogActions } from './dialog';
import { ErrorNote } from './error-note';
import { Note } from './note';

interface Question {
  /** Names the object, as `<em>`: `Delete key ci?` */
  title: ReactNode;
  /** The consequences. */
  children: ReactNode;
  /** The action is under way. */
  sending: boolean;
  /** Why the action failed. */
  error: ShownError | null;
}

interface ConfirmDialogProps extends Question {
  opened?: boolean;
  onClose(): void;
  /** The verb on the button that confirms. */
  action: string;
  onConfirm(): void;
  /** The button is red. */
  danger?: boolean;
  /** Label of the button that cancels. */
  cancel?: string;
  /** A change that was made elsewhere after the question was asked: it can no longer be confirmed. */
  changed?: ReactNode;
}

/** Asks before an action, and shows above the question why it failed. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { opened = true, onClose, title, action, onConfirm, sending, error, children } = props;
  const { danger = false, cancel = 'Cancel', changed } = props;
  return (
    <Dialog opened={opened} onClose={onClose} title={title}>
      {changed ? <Note tone="warn">{changed}</Note> : error && <ErrorNote error={error} />}
      {children}
      <DialogActions>
        <Button
          {...(danger && { color: 'red' })}
          loading={sending}
          disabled={Boolean(changed)}
          onClick={onConfirm}
        >
          {action}
        </Button>
        <Button variant="default" onClick={onClose}>
          {cancel}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

/** The button that cancels an action that can't be undone. */
export const KEEP = 'Keep it';

interface ConfirmButtonProps extends Question {
  /** The verb on both buttons, the one that asks and the one that confirms. */
  action: string;
  /** Label of the button that asks, where the object is beside it. Default: `action`. */
  label?: string;
  /** `close` closes the dialog if the page stays. */
  onConfirm(close: () => void): Promise<void>;
}

/** A button for an action that can't be undone: it asks first. */
export function ConfirmButton({ label, action, onConfirm, error, ...question }: ConfirmButtonProps) {
  const [opened, setOpened] = useState(false);
  // Forgets why the action failed the last time.
  const [past, setPast] = useState<ShownError | null>(null);
  const open = (): void => {
    setPast(error);
    setOpened(true);
  };
  const close = (): void => setOpened(false);
  return (
    <>
      <Button variant="default" onClick={open}>
        {label ?? action}
      </Button>
      <ConfirmDialog
        {...question}
        error={error === past ? null : error}
        opened={opened}
        onClose={close}
        action={action}
        onConfirm={() => void onConfirm(close)}
        danger
        cancel={KEEP}
      />
    </>
  );
}
