import '@mantine/core/styles/InlineInput.css';
import '@mantine/core/styles/Switch.css';
import { Button, Switch } from '@mantine/core';
import { Link } from '@tanstack/react-router';
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
import { paths } from '../../paths';
import { ConfirmDialog, KEEP } from '../../ui/confirm-dialog';
import { Dialog } from '../../ui/dialog';
import { ErrorNote } from '../../ui/error-note';
import { Note } from '../../ui/note';
import { useUnread } from '../../ui/unread';
import { Unseen } from '../../ui/unseen';
import { AlertForm } from './alert-form';
import classes from './alerts.module.css';
import { RotateSecret } from './rotate-secret';
import { ThresholdBar } from './threshold-bar';

interface SubscriptionProps {
  alert: AlertRowFragment;
  apiKey: Pick<KeyRowFragment, 'id' | 'spendMonthUsd'>;
  /** Shown where alerts of several keys are listed. */
  keyName?: string;
  /** Null: no limit. */
  limitUsd: string | null;
  mailConfigured: boolean;
}

/** One destination: its alerts and actions. */
export function Subscription({ alert, apiKey, keyName, limitUsd, mailConfigured }: SubscriptionProps) {
  const [dialog, setDialog] = useState<'edit' | 'delete'>();
  const update = useAction(UpdateAlertDocument);
  const test = useAction(SendTestAlertDocument);
  const remove = useAction(DeleteAlertDocument);
  const named = { keyId: apiKey.id, id: alert.id };
  const error = update.error ?? test.error;
  /** Distinguishes the buttons of this subscription from others of the page. */
  const receiver = keyName === undefined ? alert.destination : `${alert.destination}, ${keyName}`;
  const [unread, noteSaved] = useUnread(String(alert.active));
  const active = (unread ?? String(alert.active)) === 'true';
  const Icon = alert.kind === 'EMAIL' ? MailIcon : WebhookIcon;
  const close = (): void => {
    update.forget();
    setDialog(undefined);
  };
  const askToDelete = (): void => {
    remove.forget();
    setDialog('delete');
  };
  const setActive = async (on: boolean): Promise<void> => {
    const { data } = await update.run({ input: { ...named, active: on } });
    if (data) noteSaved(String(on));
  };
  const deleteIt = async (): Promise<void> => {
    const { data } = await remove.run({ input: named });
    if (data) close();
  };
  return (
    <li className={classes.subscription}>
      <div className={classes.destination}>
        <Icon size={18} strokeWidth={1.5} aria-label={alert.kind === 'EMAIL' ? 'Mail' : 'Webhook'} />
        <strong>{alert.destination}</strong>
        {keyName !== undefined && (
          <Link to={paths.key} params={{ keyId: apiKey.id }} search={{ tab: 'alerts' }}>
            {keyName}
          </Link>
        )}
        <Switch
          label={active ? 'Active' : 'Off'}
          aria-label={`Alert to ${receiver} is active`}
          checked={active}
          disabled={update.sending || unread !== undefined}
          onChange={({ currentTarget }) => void setActive(currentTarget.checked)}
        />
      </div>
      {alert.disabledReason && <Note tone="warn">Disabled by the service: {alert.disabledReason}</Note>}
      {error && dialog === undefined && <ErrorNote error={error} />}
      {keyName !== undefined && limitUsd === null && (
        <Note tone="plain">The key has no monthly limit, so this alert doesn’t fire.</Note>
      )}
      <ThresholdBar thresholds={alert.thresholdsPct} limitUsd={limitUsd} spentUsd={apiKey.spendMonthUsd} />
      <div className={classes.acts}>
        <Button size="xs" variant="default" onClick={() => setDialog('edit')}>
          Edit<Unseen> alert to {receiver}</Unseen>
        </Button>
        <Button
          size="xs"
          variant="default"
          loading={test.sending}
          onClick={() => void test.run({ input: named })}
        >
          Send test<Unseen> to {receiver}</Unseen>
        </Button>
        {alert.kind === 'WEBHOOK' && <RotateSecret named={named} receiver={receiver} />}
        <Button size="xs" variant="default" onClick={askToDelete}>
          Delete<Unseen> alert to {receiver}</Unseen>
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
      <ConfirmDialog
        opened={dialog === 'delete'}
        onClose={close}
        title="Delete the alert?"
        action="Delete alert"
        onConfirm={() => void deleteIt()}
        sending={remove.sending}
        error={remove.error}
        danger
        cancel={KEEP}
      >
        <p>
          {alert.destination} will no longer receive alerts{keyName !== undefined && ` for ${keyName}`}. Past
          alerts stay in the history.
        </p>
      </ConfirmDialog>
    </li>
  );
}
