import { Button } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { Dialog, DialogActions } from './dialog';
import { Note } from './note';
import { SecretOnce } from './secret-once';
import { useSecretGuard } from './use-secret-guard';

interface SecretDialogProps {
  opened: boolean;
  /** Called when it is really to be closed. */
  onClose(): void;
  /** Before there is a secret, and with one. */
  titles: { before: string; made: string };
  /** Undefined before it is made. */
  secret: string | undefined;
  /** What the secret is: `key`, `signing secret`. */
  what: string;
  /** What makes the secret. */
  form: ReactNode;
  /** Below the secret. */
  children?: ReactNode;
}

/** Shows a secret the one time that it can be seen; closing before it was copied asks first. */
export function SecretDialog(props: SecretDialogProps) {
  const { opened, onClose, titles, secret, what, form, children } = props;
  // Going back is a close, too. What the page does by itself isn't.
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
  // The way back has closed it: the next one begins without this secret.
  useEffect(() => {
    if (isLeft) latest.current();
  }, [isLeft]);
  return (
    <Dialog
      // A secret may also be made after somebody has closed the form.
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
