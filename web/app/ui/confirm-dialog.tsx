import { Button } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { ShownError } from '../graphql/errors';
import { Dialog, DialogActions } from './dialog';
import { ErrorNote } from './error-note';
import { Note } from './note';

interface Question {
  /** Names the thing, set off as `<em>`: `Delete key ci?` */
  title: ReactNode;
  /** What comes of it. */
  children: ReactNode;
  /** While it is being done. */
  sending: boolean;
  /** Why it was not done. */
  error: ShownError | null;
}

interface ConfirmDialogProps extends Question {
  opened?: boolean;
  onClose(): void;
  /** The verb on the button that does it. */
  action: string;
  onConfirm(): void;
  /** The button is red. */
  danger?: boolean;
  /** The way out. */
  cancel?: string;
  /** What was changed elsewhere after the question was asked: it can no longer be answered. */
  changed?: ReactNode;
}

/** Asks before something is done, and says above the question why it failed. */
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

/** The way out of whatever can't be undone. */
export const KEEP = 'Keep it';

interface ConfirmButtonProps extends Question {
  /** The verb on both buttons, the one that asks and the one that does it. */
  action: string;
  /** On the button that asks, where it stands beside the thing. */
  label?: string;
  /** `close` is for what stays on the page. */
  onConfirm(close: () => void): Promise<void>;
}

/** A button for what can't be undone: it asks first. */
export function ConfirmButton({ label, action, onConfirm, error, ...question }: ConfirmButtonProps) {
  const [opened, setOpened] = useState(false);
  // Why it failed when it was asked before says nothing about this time.
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
