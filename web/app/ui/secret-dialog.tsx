import { Button } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Dialog, DialogActions } from './dialog';
import { Note } from './note';
import { SecretOnce } from './secret-once';

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
  const [copied, setCopied] = useState(false);
  const [asked, setAsked] = useState(false);
  const leave = (): void => {
    onClose();
    setCopied(false);
    setAsked(false);
  };
  const close = (): void => {
    if (secret === undefined || copied || asked) leave();
    else setAsked(true);
  };
  return (
    <Dialog
      opened={opened}
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
          <SecretOnce
            secret={secret}
            what={what}
            onCopied={() => {
              setCopied(true);
              setAsked(false);
            }}
          />
          {children}
          <DialogActions>
            <Button onClick={leave}>I’ve saved it</Button>
          </DialogActions>
        </>
      )}
    </Dialog>
  );
}
