import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { AlertRowFragment, KeyRowFragment } from '../../../generated/graphql';
import type { ShownError } from '../../graphql/errors';
import { Choice } from '../../ui/choice';
import { DialogActions } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { ErrorNote } from '../../ui/error-note';
import { asSentence } from '../../ui/form-errors';
import { Note } from '../../ui/note';
import { ThresholdEditor } from './threshold-editor';
import { FIRST_THRESHOLDS } from './thresholds.rules';

const KINDS = [
  { value: 'EMAIL', label: 'Email' },
  { value: 'WEBHOOK', label: 'Webhook' },
] as const;

type AlertValues = Pick<AlertRowFragment, 'kind' | 'destination' | 'thresholdsPct'>;

interface AlertFormProps {
  apiKey: Pick<KeyRowFragment, 'id' | 'spendMonthUsd'>;
  limitUsd: string;
  /** The subscription that changes; its kind stays. Absent: a new one. */
  alert?: AlertRowFragment | undefined;
  /** Whether this installation sends mails. */
  mailConfigured: boolean;
  /** Where mails go unless told otherwise. */
  email: string;
  /** @returns the refusal, or null */
  save(values: AlertValues): Promise<ShownError | null>;
  sending: boolean;
  onCancel(): void;
}

/** How and at which percentages somebody is told. */
export function AlertForm({
  apiKey,
  limitUsd,
  alert,
  email,
  mailConfigured,
  save,
  sending,
  onCancel,
}: AlertFormProps) {
  const [kind, setKind] = useState<AlertRowFragment['kind']>(
    alert?.kind ?? (mailConfigured ? 'EMAIL' : 'WEBHOOK'),
  );
  const known = alert?.destination ?? (kind === 'EMAIL' ? email : '');
  const [typed, change, forget] = useDraft(
    `destination of ${alert?.id ?? `a new ${kind} of ${apiKey.id}`}`,
    // The address of a webhook often is all that its receiver asks for.
    { secret: kind === 'WEBHOOK' },
  );
  const [thresholds, setThresholds] = useState<readonly number[]>(alert?.thresholdsPct ?? FIRST_THRESHOLDS);
  const [error, setError] = useState<ShownError | null>(null);
  const destination = typed ?? known;
  const send = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const refused = await save({ kind, destination: destination.trim(), thresholdsPct: [...thresholds] });
    setError(refused);
    if (!refused) forget();
  };
  const fault = error?.fields.destination;
  return (
    <form noValidate onSubmit={(event) => void send(event)}>
      {error && !fault && <ErrorNote error={error} />}
      {!alert && <Choice label="How" options={KINDS} value={kind} onChange={setKind} />}
      {kind === 'EMAIL' && !mailConfigured && (
        <Note tone="warn">
          This installation doesn’t send email. Email alerts only appear in the history; use a webhook to be
          notified.
        </Note>
      )}
      <TextInput
        key={kind}
        label={kind === 'EMAIL' ? 'Email address' : 'URL'}
        {...(kind === 'WEBHOOK' && { description: 'HTTPS, at a public address; it gets a signed POST' })}
        type={kind === 'EMAIL' ? 'email' : 'url'}
        data-autofocus
        autoComplete="off"
        value={destination}
        error={fault && asSentence(fault)}
        onChange={({ currentTarget }) => change(currentTarget.value)}
      />
      <ThresholdEditor
        thresholds={thresholds}
        onChange={setThresholds}
        limitUsd={limitUsd}
        spentUsd={apiKey.spendMonthUsd}
      />
      <DialogActions>
        <Button
          type="submit"
          loading={sending}
          disabled={thresholds.length === 0 || destination.trim() === ''}
        >
          {alert ? 'Save' : 'Create alert'}
        </Button>
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
      </DialogActions>
    </form>
  );
}
