import { Button } from '@mantine/core';
import { useState } from 'react';
import { RotateAlertSecretDocument } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { DialogActions } from '../../ui/dialog';
import { ErrorNote } from '../../ui/error-note';
import { SecretDialog } from '../../ui/secret-dialog';
import { Unseen } from '../../ui/unseen';
import { Verifying } from './verifying';

interface RotateSecretProps {
  named: { keyId: string; id: string };
  /** The receiver, for screen readers. */
  receiver: string;
}

/** Makes a new signing secret for a webhook; the previous one also signs for a while. */
export function RotateSecret({ named, receiver }: RotateSecretProps) {
  const [opened, setOpened] = useState(false);
  const [secret, setSecret] = useState<string>();
  const { run, error, sending, forget } = useAction(RotateAlertSecretDocument);
  const open = (): void => {
    forget();
    setOpened(true);
  };
  const close = (): void => {
    setOpened(false);
    setSecret(undefined);
  };
  const rotate = async (): Promise<void> => {
    const { data } = await run({ input: named });
    if (data) setSecret(data.rotateAlertSecret.signingSecret);
  };
  return (
    <>
      <Button size="xs" variant="default" onClick={open}>
        New secret<Unseen> for {receiver}</Unseen>
      </Button>
      <SecretDialog
        opened={opened}
        onClose={close}
        titles={{ before: 'Rotate the signing secret?', made: 'New signing secret' }}
        secret={secret}
        what="signing secret"
        form={
          <>
            {error && <ErrorNote error={error} />}
            <p>
              Until the next rotation, deliveries are also signed with the current secret, so your receiver
              can switch over without missing any.
            </p>
            <DialogActions>
              <Button loading={sending} onClick={() => void rotate()}>
                Create new secret
              </Button>
              <Button variant="default" onClick={close}>
                Cancel
              </Button>
            </DialogActions>
          </>
        }
      >
        <Verifying />
      </SecretDialog>
    </>
  );
}
