import { Button, NativeSelect, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { z } from 'zod';
import {
  type KeyRowFragment,
  SnippetFactsDocument,
  type SnippetFactsQuery,
} from '../../../generated/graphql';
import type { ShownError } from '../../graphql/errors';
import { usePageQuery } from '../../graphql/use-page-query';
import { ErrorNote } from '../../ui/error-note';
import { asSentence } from '../../ui/form-errors';
import edit from '../../ui/inline-edit.module.css';
import { LoadError } from '../../ui/load-error';

const ACTIONS = [
  { value: 'DISABLE', label: 'Reject calls' },
  { value: 'SLOW', label: 'Slow calls down' },
  { value: 'FALLBACK_MODEL', label: 'Run calls on another model' },
];

const guardDraft = z.object({
  atPct: z.string(),
  action: z.enum(['DISABLE', 'SLOW', 'FALLBACK_MODEL']),
  model: z.string(),
});
type GuardDraft = z.infer<typeof guardDraft>;
type Guard = NonNullable<KeyRowFragment['guard']>;

/** Reads a stored draft. */
export const storedGuard = (stored: unknown): GuardDraft | undefined => guardDraft.safeParse(stored).data;

/** The draft of a guard. */
export const draftOf = (guard: Guard | null | undefined): GuardDraft => ({
  atPct: String(guard?.atPct ?? 100),
  action: guard?.action ?? 'DISABLE',
  model: guard?.modelPublicName ?? '',
});

/** A guard as the input of a mutation. */
export const guardOf = (guard: Guard | null | undefined) =>
  guard ? { atPct: guard.atPct, action: guard.action, modelPublicName: guard.modelPublicName ?? null } : null;

interface GuardFormProps {
  draft: GuardDraft;
  /** The guard was changed elsewhere: nothing can be saved until the user has reviewed it. */
  isOld: boolean;
  onChange(draft: GuardDraft): void;
  onCancel(): void;
  save(guard: Pick<Guard, 'atPct' | 'action'> & { modelPublicName: string | null }): Promise<void>;
  sending: boolean;
  error: ShownError | null;
}

/** When a guard acts, and what it does. */
export function GuardForm({ draft, isOld, onChange, onCancel, save, sending, error }: GuardFormProps) {
  const { data, error: unread, refresh } = usePageQuery({ query: SnippetFactsDocument, variables: {} });
  const [tried, setTried] = useState(false);
  const models = chatModels(data);
  const moves = draft.action === 'FALLBACK_MODEL';
  const model = draft.model || models[0] || '';
  const atPct = /^\d{1,3}$/.test(draft.atPct.trim()) ? Number(draft.atPct) : 0;
  const isWrong = atPct < 1 || atPct > 100;
  const modelFault = error?.fields['guard.modelPublicName'];
  const send = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (!isWrong && !isOld) void save({ atPct, action: draft.action, modelPublicName: moves ? model : null });
  };
  return (
    <form noValidate onSubmit={send}>
      {error && !modelFault && <ErrorNote error={error} />}
      {unread && !data && <LoadError error={unread} onRetry={refresh} />}
      <TextInput
        label="Percentage of the monthly limit"
        autoFocus
        autoComplete="off"
        inputMode="numeric"
        rightSection="%"
        value={draft.atPct}
        // Changes made now would be lost with the answer.
        readOnly={sending}
        error={tried && isWrong && 'Enter a whole number from 1 to 100.'}
        onChange={({ currentTarget }) => onChange({ ...draft, atPct: currentTarget.value })}
      />
      <NativeSelect
        label="What happens"
        data={ACTIONS}
        value={draft.action}
        disabled={sending}
        onChange={({ currentTarget }) =>
          onChange({ ...draft, action: currentTarget.value as GuardDraft['action'] })
        }
      />
      {moves && (
        <NativeSelect
          label="Model"
          description="Calls to more expensive chat models move to this one."
          data={[...new Set(model ? [model, ...models] : models)]}
          value={model}
          disabled={sending}
          error={modelFault && asSentence(modelFault)}
          onChange={({ currentTarget }) => onChange({ ...draft, model: currentTarget.value })}
        />
      )}
      <div className={edit.buttons}>
        <Button type="submit" size="xs" loading={sending} disabled={isOld || (moves && model === '')}>
          Save
        </Button>
        <Button size="xs" variant="default" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

const chatModels = (facts: SnippetFactsQuery | undefined): string[] =>
  (facts?.models ?? []).flatMap(({ modelPublicName, family }) =>
    family !== 'embedding' && facts?.viewer?.plan.allowedModels.includes(modelPublicName)
      ? [modelPublicName]
      : [],
  );
