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
  /** Called when the creation begins, and when nothing is left to show. In between, this component must stay mounted. */
  onMaking?(isMaking: boolean): void;
}

/** Creates a subscription; shows a webhook's secret once. */
export function CreateAlert(props: CreateAlertProps) {
  const { apiKey, limitUsd, email, mailConfigured, opened, onClose, onMaking } = props;
  const { run, sending } = useAction(CreateAlertDocument);
  const [secret, setSecret] = useState<string>();
  const leave = (): void => {
    onClose();
    if (secret === undefined) return;
    setSecret(undefined);
    onMaking?.(false);
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
            onMaking?.(true);
            const { data, error } = await run({ input: { keyId: apiKey.id, ...values } });
            const made = data?.createAlertSubscription.signingSecret;
            if (made) setSecret(made);
            else onMaking?.(false);
            if (error) return error;
            if (!made) onClose();
            return null;
          }}
        />
      }
    >
      <Verifying />
    </SecretDialog>
  );
}
