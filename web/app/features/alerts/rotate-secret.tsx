import { Button } from '@mantine/core';
import { useState } from 'react';
import { RotateAlertSecretDocument } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { DialogActions } from '../../ui/dialog';
import { ErrorNote } from '../../ui/error-note';
import { SecretDialog } from '../../ui/secret-dialog';
import { Verifying } from './verifying';

/** A new signing secret for a webhook; the former goes on signing beside it. */
export function RotateSecret({ named }: { named: { keyId: string; id: string } }) {
  const [opened, setOpened] = useState(false);
  const [secret, setSecret] = useState<string>();
  const { run, error, sending } = useAction(RotateAlertSecretDocument);
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
      <Button size="xs" variant="default" onClick={() => setOpened(true)}>
        New secret
      </Button>
      <SecretDialog
        opened={opened}
        onClose={close}
        titles={{ before: 'Change the signing secret?', made: 'The new signing secret' }}
        secret={secret}
        what="signing secret"
        form={
          <>
            {error && <ErrorNote error={error} />}
            <p>
              Deliveries are signed with the present secret as well until the next change, so that nothing is
              missed while the receiver changes over.
            </p>
            <DialogActions>
              <Button loading={sending} onClick={() => void rotate()}>
                Make a new secret
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
