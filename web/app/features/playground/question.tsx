import { Button, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { runPlaygroundInput } from '../../../../src/services/playground/playground.inputs';
import { RunPlaygroundDocument, type SessionPartsFragment } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { leaveDraft } from '../../ui/draft';
import { ErrorNote } from '../../ui/error-note';
import { useFormDraft } from '../../ui/form-draft';
import { asSentence, refusedFields, schemaErrors } from '../../ui/form-errors';
import { formatCount } from '../../ui/format';
import { LoadError } from '../../ui/load-error';
import { useChatModels } from '../prompts/use-chat-models';
import { playgroundDraft } from './draft-names';
import { ModelChoice } from './model-choice';
import classes from './playground.module.css';
import { checkedQuestion, type QuestionFields, questionFields, runInput } from './playground-draft';

interface QuestionProps {
  /** Name of the draft. */
  draft: string;
  /** The question before anything was typed. */
  first: QuestionFields;
  /** Called with the models before the request is sent, and with undefined when it was refused. */
  onAsking(models: readonly string[] | undefined): void;
  onStarted(session: SessionPartsFragment): Promise<void>;
}

const MOST_CHARACTERS = 50_000;
/** The number of models that are chosen by default. */
const FIRST_MODELS = 2;

const check = schemaErrors(runPlaygroundInput);

/** The form of a question: models, prompt and parameters. Ctrl or ⌘ Enter runs it. */
export function Question({ draft, first, onAsking, onStarted }: QuestionProps) {
  const { run, error, sending } = useAction(RunPlaygroundDocument);
  const [typed, change, forget] = useFormDraft(draft, (stored) => questionFields.safeParse(stored).data);
  /** By draft, since the same form is used for the next session. */
  const latestTyped = useRef(new Map<string, QuestionFields | undefined>());
  latestTyped.current.set(draft, typed);
  const [faults, setFaults] = useState<Record<string, string>>({});
  const { models: all, error: unread, refresh } = useChatModels();
  const firstModels = all.filter(({ isAllowed }) => isAllowed).slice(0, FIRST_MODELS);
  const given = typed ?? first;
  const fields = { ...given, models: given.models ?? firstModels.map(({ name }) => name) };
  const set = (part: Partial<QuestionFields>): void => {
    setFaults({});
    change({ ...given, ...part });
  };
  /** The list of models must be loaded before the question can be sent. */
  const isAwaited = given.models === null && all.length === 0 && !unread;
  const [isEarly, setIsEarly] = useState(false);
  const ask = async (): Promise<void> => {
    setIsEarly(isAwaited);
    if (isAwaited) return;
    const wrong = check(checkedQuestion(fields));
    setFaults(wrong);
    if (sending || Object.keys(wrong).length > 0) return;
    onAsking(fields.models);
    const sent = JSON.stringify(typed);
    const { data, error: refused } = await run({ input: runInput(fields) });
    if (refused) setFaults(refusedFields(refused.fields));
    if (!data) return onAsking(undefined);
    const { session } = data.runPlayground;
    // Text that was typed meanwhile becomes the draft of the session.
    const now = JSON.stringify(latestTyped.current.get(draft));
    if (now !== undefined && now !== sent) leaveDraft(playgroundDraft({ session: session.id }), now);
    await onStarted(session);
    forget();
  };
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    if (isEarly && !isAwaited) void latest.current();
  }, [isEarly, isAwaited]);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    void ask();
  };
  const onKey = (event: KeyboardEvent<HTMLFormElement>): void => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    event.currentTarget.requestSubmit();
  };
  return (
    <form noValidate className={classes.question} onSubmit={send} onKeyDown={onKey}>
      {error && <ErrorNote error={error} />}
      {unread && <LoadError error={unread} onRetry={refresh} />}
      <ModelChoice
        models={all}
        chosen={fields.models}
        fault={faults.models}
        isUnread={unread !== null}
        onChange={(models) => set({ models })}
      />
      <Textarea
        label="Prompt"
        dir="auto"
        autosize
        minRows={4}
        maxRows={20}
        value={fields.prompt}
        error={faults.prompt && asSentence(faults.prompt)}
        onChange={({ currentTarget }) => set({ prompt: currentTarget.value })}
      />
      <SystemPrompt
        value={fields.systemPrompt}
        fault={faults.system_prompt}
        onChange={(systemPrompt) => set({ systemPrompt })}
      />
      <Parameters fields={fields} faults={faults} onChange={set} />
      <div className={classes.actions}>
        <Button type="submit" loading={sending || isEarly}>
          Run
        </Button>
        <span className={`${classes.hint} ${classes.keys}`}>
          <kbd>Ctrl</kbd> or <kbd>⌘</kbd> <kbd>Enter</kbd>
        </span>
        <span className={classes.count}>
          {formatCount([...fields.prompt].length)} of {formatCount(MOST_CHARACTERS)} characters
        </span>
      </div>
    </form>
  );
}

interface SystemPromptProps {
  value: string;
  fault: string | undefined;
  onChange(value: string): void;
}

function SystemPrompt({ value, fault, onChange }: SystemPromptProps) {
  const [opened, setOpened] = useState<boolean>();
  return (
    <details
      className={classes.more}
      open={fault !== undefined || (opened ?? value !== '')}
      onToggle={(event) => setOpened(event.currentTarget.open)}
    >
      <summary>System prompt</summary>
      <Textarea
        aria-label="System prompt"
        dir="auto"
        placeholder="Instructions that come before the prompt"
        autosize
        minRows={2}
        maxRows={12}
        value={value}
        error={fault && asSentence(fault)}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    </details>
  );
}

interface ParametersProps {
  fields: QuestionFields;
  faults: Record<string, string>;
  onChange(part: Partial<QuestionFields>): void;
}

const PARAMETERS = [
  { field: 'temperature', label: 'Temperature', hint: '0 to 2', own: 'Model’s own', name: 'temperature' },
  { field: 'maxTokens', label: 'Max tokens', hint: '1 to 4,096', own: '1024', name: 'max_tokens' },
  { field: 'topP', label: 'Top p', hint: '0 to 1', own: 'Model’s own', name: 'top_p' },
] as const;

function Parameters({ fields, faults, onChange }: ParametersProps) {
  const isFaulty = PARAMETERS.some(({ name }) => faults[`parameters.${name}`]);
  const isUsed = PARAMETERS.some(({ field }) => fields[field] !== '');
  const [opened, setOpened] = useState<boolean>();
  return (
    <details
      className={classes.more}
      open={isFaulty || (opened ?? isUsed)}
      onToggle={(event) => setOpened(event.currentTarget.open)}
    >
      <summary>Parameters</summary>
      <div className={classes.parameters}>
        {PARAMETERS.map(({ field, label, hint, own, name }) => (
          <TextInput
            key={field}
            label={label}
            description={hint}
            inputMode="decimal"
            autoComplete="off"
            placeholder={own}
            value={fields[field]}
            error={faults[`parameters.${name}`] && asSentence(faults[`parameters.${name}`]!)}
            onChange={({ currentTarget }) => onChange({ [field]: currentTarget.value })}
          />
        ))}
      </div>
    </details>
  );
}
