import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { z } from 'zod';
import type { AlertRowFragment, KeyRowFragment } from '../../../generated/graphql';
import type { ShownError } from '../../graphql/errors';
import { Choice } from '../../ui/choice';
import { DialogActions } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { useEditBase } from '../../ui/edit-base';
import { Elsewhere } from '../../ui/elsewhere';
import { ErrorNote } from '../../ui/error-note';
import { useFormDraft } from '../../ui/form-draft';
import { asSentence } from '../../ui/form-errors';
import { Note } from '../../ui/note';
import { ThresholdEditor } from './threshold-editor';
import { FIRST_THRESHOLDS } from './thresholds.rules';
import { useTypedThreshold } from './use-typed-threshold';

const KINDS = [
  { value: 'EMAIL', label: 'Email' },
  { value: 'WEBHOOK', label: 'Webhook' },
] as const;

const alertDraft = z.object({ kind: z.enum(['EMAIL', 'WEBHOOK']), thresholds: z.array(z.int()) });
const storedDraft = (stored: unknown) => alertDraft.safeParse(stored).data;

type AlertValues = Pick<AlertRowFragment, 'kind' | 'destination' | 'thresholdsPct'>;
type AlertBase = Omit<AlertValues, 'kind'>;

interface AlertFormProps {
  apiKey: Pick<KeyRowFragment, 'id' | 'spendMonthUsd'>;
  /** The limit of the key; null: no limit. */
  limitUsd: string | null;
  /** The subscription to change; its kind is fixed. Absent: a new one. */
  alert?: AlertRowFragment | undefined;
  /** Whether this installation sends mails. */
  mailConfigured: boolean;
  /** Default address of mails. */
  email: string;
  /**
   * @param base the values to replace, when a subscription is changed.
   * @returns the refusal, or null
   */
  save(values: AlertValues, base: AlertBase): Promise<ShownError | null>;
  sending: boolean;
  onCancel(): void;
}

/** Kind, destination and percentages of a subscription. */
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
  const place = alert?.id ?? `a new alert of ${apiKey.id}`;
  const [draft, changeDraft, forgetDraft] = useFormDraft(`form of ${place}`, storedDraft);
  const kind = alert?.kind ?? draft?.kind ?? (mailConfigured ? 'EMAIL' : 'WEBHOOK');
  const thresholds = draft?.thresholds ?? alert?.thresholdsPct ?? FIRST_THRESHOLDS;
  const known = alert?.destination ?? (kind === 'EMAIL' ? email : '');
  const [typed, change, forget] = useDraft(
    `${kind} of ${place}`,
    // The URL of a webhook may be a secret.
    { isOfTab: kind === 'WEBHOOK' },
  );
  const now: AlertBase = { destination: known, thresholdsPct: [...(alert?.thresholdsPct ?? [])] };
  const edit = useEditBase(place, JSON.stringify(now), {
    isEditing: typed !== undefined || draft !== undefined,
    isOfTab: kind === 'WEBHOOK',
  });
  const isOld = alert !== undefined && edit.isOld && !sending;
  const [error, setError] = useState<ShownError | null>(null);
  const destination = typed ?? known;
  const changeThresholds = (next: number[]): void => {
    edit.begin();
    changeDraft({ kind, thresholds: next });
  };
  const percentage = useTypedThreshold(thresholds, changeThresholds);
  const hasPercentage = percentage.text.trim() !== '';
  const stop = (): void => {
    edit.forget();
    forget();
    forgetDraft();
  };
  const send = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (isOld) return;
    // Includes a percentage that is still in its field.
    const whole = hasPercentage ? percentage.add() : thresholds;
    if (!whole) return;
    const values = { kind, destination: destination.trim(), thresholdsPct: [...whole] };
    const refused = await save(values, JSON.parse(edit.base) as AlertBase);
    setError(refused);
    if (!refused) stop();
  };
  const fault = error?.fields.destination;
  return (
    <form noValidate onSubmit={(event) => void send(event)}>
      {error && !fault && !isOld && <ErrorNote error={error} />}
      {isOld && (
        <Elsewhere
          what="The alert"
          now={`Now: ${now.destination}, at ${now.thresholdsPct.map((percent) => `${percent}%`).join(', ')}.`}
          onKeep={() => {
            setError(null);
            edit.keep();
          }}
          onDiscard={() => {
            setError(null);
            stop();
          }}
        />
      )}
      {!alert && (
        <Choice
          label="How"
          options={KINDS}
          value={kind}
          onChange={(next) => {
            // An error about one kind of destination doesn't apply to the other.
            setError(null);
            changeDraft({ kind: next, thresholds: [...thresholds] });
          }}
        />
      )}
      {kind === 'EMAIL' && !mailConfigured && (
        <Note tone="warn">
          This installation doesn’t send email. Email alerts only appear in the history; use a webhook to be
          notified.
        </Note>
      )}
      <TextInput
        key={kind}
        label={kind === 'EMAIL' ? 'Email address' : 'URL'}
        {...(kind === 'WEBHOOK' && {
          description: 'http:// or https://, at a public address; it gets a signed POST',
        })}
        type={kind === 'EMAIL' ? 'email' : 'url'}
        data-autofocus
        autoComplete="off"
        value={destination}
        // Changes made now would be lost with the answer.
        readOnly={sending}
        error={fault && asSentence(fault)}
        onChange={({ currentTarget }) => {
          edit.begin();
          change(currentTarget.value);
        }}
      />
      <ThresholdEditor
        thresholds={thresholds}
        onChange={changeThresholds}
        typed={percentage}
        sending={sending}
        limitUsd={limitUsd}
        spentUsd={apiKey.spendMonthUsd}
      />
      <DialogActions>
        <Button
          type="submit"
          loading={sending}
          disabled={isOld || (thresholds.length === 0 && !hasPercentage) || destination.trim() === ''}
        >
          {alert ? 'Save' : 'Create alert'}
        </Button>
        <Button
          variant="default"
          onClick={() => {
            stop();
            onCancel();
          }}
        >
          Cancel
        </Button>
      </DialogActions>
    </form>
  );
}
