import { Button } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { Dialog, DialogActions } from './dialog';
import { Note } from './note';
import { SecretOnce } from './secret-once';
import { useSecretGuard } from './use-secret-guard';

interface SecretDialogProps {
  opened: boolean;
  /** Called when the dialog may really close. */
  onClose(): void;
  /** The titles before there is a secret, and with one. */
  titles: { before: string; made: string };
  /** Undefined before the secret is made. */
  secret: string | undefined;
  /** What the secret is: `key`, `signing secret`. */
  what: string;
  /** The form that makes the secret. */
  form: ReactNode;
  /** Shown below the secret. */
  children?: ReactNode;
}

/** Shows a secret once; asks before it is closed without having been copied. */
export function SecretDialog(props: SecretDialogProps) {
  const { opened, onClose, titles, secret, what, form, children } = props;
  // Going back closes the dialog, too. Navigation by the page itself doesn't.
  const { asked, mayLeave, ask, onCopied, reset } = useSecretGuard(
    secret !== undefined,
    ({ action }) => action !== 'PUSH' && action !== 'REPLACE',
  );
  const leave = (): void => {
    onClose();
    reset();
  };
  const close = (): void => {
    if (mayLeave) leave();
    else ask();
  };
  const isLeft = !opened && secret !== undefined && mayLeave;
  const latest = useRef(leave);
  latest.current = leave;
  // Closed by going back: the next one begins without this secret.
  useEffect(() => {
    if (isLeft) latest.current();
  }, [isLeft]);
  return (
    <Dialog
      // A secret may still be made after the form was closed.
      opened={opened || (secret !== undefined && !isLeft)}
      onClose={close}
      title={secret === undefined ? titles.before : titles.made}
      wide={secret !== undefined}
    >
      {secret === undefined ? (
        form
      ) : (
        <>
          {asked && (
            <Note tone="warn">
              You haven’t copied the {what}. It can’t be shown again after you close this. Close again to
              continue without it.
            </Note>
          )}
          <SecretOnce secret={secret} what={what} onCopied={onCopied} />
          {children}
          <DialogActions>
            <Button onClick={leave}>I’ve saved it</Button>
          </DialogActions>
        </>
      )}
    </Dialog>
  );
}
