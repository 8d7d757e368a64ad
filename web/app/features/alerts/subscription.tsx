import '@mantine/core/styles/InlineInput.css';
import '@mantine/core/styles/Switch.css';
import { Button, Switch } from '@mantine/core';
import { MailIcon, WebhookIcon } from 'lucide-react';
import { useState } from 'react';
import {
  type AlertRowFragment,
  DeleteAlertDocument,
  type KeyRowFragment,
  SendTestAlertDocument,
  UpdateAlertDocument,
} from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { Dialog, DialogActions } from '../../ui/dialog';
import { ErrorNote } from '../../ui/error-note';
import { Note } from '../../ui/note';
import { AlertForm } from './alert-form';
import classes from './alerts.module.css';
import { RotateSecret } from './rotate-secret';
import { ThresholdBar } from './threshold-bar';

interface SubscriptionProps {
  alert: AlertRowFragment;
  apiKey: KeyRowFragment;
  limitUsd: string;
  mailConfigured: boolean;
}

/** One destination: what it is told, and what can be done with it. */
export function Subscription({ alert, apiKey, limitUsd, mailConfigured }: SubscriptionProps) {
  const [dialog, setDialog] = useState<'edit' | 'delete'>();
  const update = useAction(UpdateAlertDocument);
  const test = useAction(SendTestAlertDocument);
  const remove = useAction(DeleteAlertDocument);
  const named = { keyId: apiKey.id, id: alert.id };
  const error = update.error ?? test.error ?? remove.error;
  const Icon = alert.kind === 'EMAIL' ? MailIcon : WebhookIcon;
  const close = (): void => setDialog(undefined);
  return (
    <li className={classes.subscription}>
      <div className={classes.destination}>
        <Icon size={18} strokeWidth={1.5} aria-label={alert.kind === 'EMAIL' ? 'Mail' : 'Webhook'} />
        <strong>{alert.destination}</strong>
        <Switch
          label={alert.active ? 'Active' : 'Off'}
          aria-label={`Alert to ${alert.destination} is active`}
          checked={alert.active}
          disabled={update.sending}
          onChange={({ currentTarget }) =>
            void update.run({ input: { ...named, active: currentTarget.checked } })
          }
        />
      </div>
      {alert.disabledReason && <Note tone="warn">Disabled by the service: {alert.disabledReason}</Note>}
      {error && dialog === undefined && <ErrorNote error={error} />}
      <ThresholdBar thresholds={alert.thresholdsPct} limitUsd={limitUsd} spentUsd={apiKey.spendMonthUsd} />
      <div className={classes.acts}>
        <Button size="xs" variant="default" onClick={() => setDialog('edit')}>
          Edit
        </Button>
        <Button
          size="xs"
          variant="default"
          loading={test.sending}
          onClick={() => void test.run({ input: named })}
        >
          Send test
        </Button>
        {alert.kind === 'WEBHOOK' && <RotateSecret named={named} />}
        <Button size="xs" variant="default" onClick={() => setDialog('delete')}>
          Delete
        </Button>
      </div>
      <Dialog opened={dialog === 'edit'} onClose={close} title="Edit alert">
        <AlertForm
          apiKey={apiKey}
          limitUsd={limitUsd}
          alert={alert}
          email=""
          mailConfigured={mailConfigured}
          sending={update.sending}
          onCancel={close}
          save={async ({ destination, thresholdsPct }, expected) => {
            const outcome = await update.run({ input: { ...named, destination, thresholdsPct, expected } });
            if (!outcome.error) close();
            return outcome.error ?? null;
          }}
        />
      </Dialog>
      <Dialog opened={dialog === 'delete'} onClose={close} title="Delete the alert?">
        {remove.error && <ErrorNote error={remove.error} />}
        <p>{alert.destination} won’t receive alerts any longer. Past alerts stay in the history.</p>
        <DialogActions>
          <Button color="red" loading={remove.sending} onClick={() => void remove.run({ input: named })}>
            Delete alert
          </Button>
          <Button variant="default" onClick={close}>
            Keep it
          </Button>
        </DialogActions>
      </Dialog>
    </li>
  );
}
