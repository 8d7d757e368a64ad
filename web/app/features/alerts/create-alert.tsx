import { useState } from 'react';
import { CreateAlertDocument, type KeyRowFragment } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { SecretDialog } from '../../ui/secret-dialog';
import { AlertForm } from './alert-form';
import { Verifying } from './verifying';

interface CreateAlertProps {
  apiKey: KeyRowFragment;
  limitUsd: string;
  email: string;
  mailConfigured: boolean;
  opened: boolean;
  onClose(): void;
}

/** Makes a subscription; a webhook's secret is shown once. */
export function CreateAlert({ apiKey, limitUsd, email, mailConfigured, opened, onClose }: CreateAlertProps) {
  const { run, sending } = useAction(CreateAlertDocument);
  const [secret, setSecret] = useState<string>();
  const leave = (): void => {
    onClose();
    setSecret(undefined);
  };
  return (
    <SecretDialog
      opened={opened}
      onClose={leave}
      titles={{ before: 'Create an alert', made: 'Webhook created' }}
      secret={secret}
      what="signing secret"
      form={
        <AlertForm
          apiKey={apiKey}
          limitUsd={limitUsd}
          email={email}
          mailConfigured={mailConfigured}
          sending={sending}
          onCancel={leave}
          save={async (values) => {
            const { data, error } = await run({ input: { keyId: apiKey.id, ...values } });
            if (error) return error;
            const made = data.createAlertSubscription.signingSecret;
            if (made) setSecret(made);
            else leave();
            return null;
          }}
        />
      }
    >
      <Verifying />
    </SecretDialog>
  );
}
