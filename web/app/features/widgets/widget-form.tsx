import '@mantine/core/styles/Checkbox.css';
import '@mantine/core/styles/InlineInput.css';
import { Button, Checkbox, NativeSelect, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, type MouseEvent, useEffect, useState } from 'react';
import type { ShownError } from '../../graphql/errors';
import { Choice } from '../../ui/choice';
import { ErrorNote } from '../../ui/error-note';
import { asSentence } from '../../ui/form-errors';
import { withChosen } from '../../ui/with-chosen';
import { DomainsField } from './domains-field';
import type { WidgetFacts } from './use-widget-facts';
import { chatModels, type WidgetDraft } from './widget-draft';
import classes from './widgets.module.css';

const POSITIONS = [
  { value: 'bottom-right', label: 'Bottom right' },
  { value: 'bottom-left', label: 'Bottom left' },
] as const;

interface WidgetFormProps {
  facts: WidgetFacts;
  draft: WidgetDraft;
  onChange(draft: WidgetDraft): void;
  /** Discards the changes; undefined without changes. */
  onDiscard: (() => void) | undefined;
  save(): Promise<void>;
  button: string;
  error: ShownError | null;
  sending: boolean;
}

interface FieldsProps extends WidgetFormProps {
  /** The last input that was sent: the error of a field is shown until the field is changed. */
  sent: WidgetDraft | undefined;
}

/** The settings of a widget. The server checks them; its messages are shown at the fields. */
export function WidgetForm(props: WidgetFormProps) {
  const { draft, onDiscard, save, button, error, sending } = props;
  const [domainFault, setDomainFault] = useState<string>();
  const [discarded, setDiscarded] = useState(0);
  const [isSubmitted, setSubmitted] = useState(false);
  const [sent, setSent] = useState<WidgetDraft>();
  const send = (event: FormEvent): void => {
    event.preventDefault();
    // The field of domains adds its content when it loses the focus.
    (event.nativeEvent as SubmitEvent).submitter?.focus();
    setSubmitted(true);
  };
  // After the domains were added.
  useEffect(() => {
    if (!isSubmitted) return;
    setSubmitted(false);
    // Ignoring it could leave a widget without domains, which every site may show.
    if (domainFault !== undefined) return;
    setSent(draft);
    void save();
  });
  return (
    <form noValidate className={classes.form} onSubmit={send}>
      {error && <ErrorNote error={error} />}
      <Answers {...props} sent={sent} />
      <Look {...props} sent={sent} />
      <Limits
        key={discarded}
        {...props}
        sent={sent}
        domainFault={domainFault}
        onDomainFault={setDomainFault}
      />
      <div className={classes.tools}>
        <Button
          type="submit"
          loading={sending}
          // Keeps the focus until the click: adding domains would move the button away from the pointer.
          onMouseDown={(event: MouseEvent) => event.preventDefault()}
        >
          {button}
        </Button>
        {onDiscard && (
          <Button
            variant="default"
            onMouseDown={(event: MouseEvent) => event.preventDefault()}
            onClick={() => {
              onDiscard();
              setDomainFault(undefined);
              setDiscarded((times) => times + 1);
            }}
          >
            Discard changes
          </Button>
        )}
      </div>
    </form>
  );
}

/** Value, change handler and error of a text field. */
function textOf({ draft, sent, onChange, error }: FieldsProps, field: keyof WidgetDraft, remote: string) {
  const [, refused] =
    Object.entries(error?.fields ?? {}).find(([name]) => name === remote || name.startsWith(`${remote}.`)) ??
    [];
  return {
    value: draft[field] as string,
    error: refused && sent?.[field] === draft[field] && asSentence(refused),
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      onChange({ ...draft, [field]: currentTarget.value }),
  };
}

const outOfPlan = (model: string): string => `${model}, not in your plan`;

function Answers(props: FieldsProps) {
  const { facts, draft } = props;
  const models = chatModels(facts).map((name) => ({ value: name, label: name }));
  const prompts = withChosen(
    facts.prompts.map(({ id, name }) => ({ value: id, label: name })),
    draft.promptId,
    'Deleted prompt',
  );
  return (
    <fieldset className={classes.group}>
      <legend>Answers</legend>
      <TextInput
        label="Name"
        description="The chat doesn’t show it, but it is public: the widget’s configuration contains it"
        autoComplete="off"
        {...textOf(props, 'name', 'name')}
      />
      <NativeSelect
        label="Model"
        data={withChosen(models, draft.model, outOfPlan(draft.model))}
        {...textOf(props, 'model', 'modelPublicName')}
      />
      {prompts.length > 0 && (
        <NativeSelect
          label="Instructions"
          data={[{ value: '', label: 'Written here' }, ...prompts]}
          {...textOf(props, 'promptId', 'promptId')}
        />
      )}
      {draft.promptId === '' ? (
        <Textarea
          label="System prompt"
          description="Precedes every conversation. Put no secrets into it: visitors may get the model to repeat it."
          rows={5}
          {...textOf(props, 'systemPrompt', 'systemPrompt')}
        />
      ) : (
        <p className={classes.hint}>
          The active version of this prompt is used, with the defaults of its variables.
        </p>
      )}
    </fieldset>
  );
}

function Look(props: FieldsProps) {
  const { draft, onChange } = props;
  return (
    <fieldset className={classes.group}>
      <legend>Look</legend>
      <Textarea label="Greeting" rows={2} {...textOf(props, 'greeting', 'greetingMessage')} />
      <TextInput
        label="Text in the empty input box"
        autoComplete="off"
        {...textOf(props, 'placeholder', 'placeholder')}
      />
      <div className={classes.row}>
        <TextInput
          label="Color"
          type="color"
          className={classes.color!}
          {...textOf(props, 'primary', 'theme')}
        />
        <Choice
          label="Corner of the page"
          options={POSITIONS}
          value={draft.position}
          onChange={(position) => onChange({ ...draft, position })}
        />
      </div>
    </fieldset>
  );
}

interface LimitsProps extends FieldsProps {
  domainFault: string | undefined;
  onDomainFault(fault: string | undefined): void;
}

function Limits(props: LimitsProps) {
  const { facts, draft, onChange, domainFault, onDomainFault } = props;
  const number = { inputMode: 'numeric', autoComplete: 'off' } as const;
  const fallbacks = [
    { value: '', label: 'Stop' },
    ...chatModels(facts).map((name) => ({ value: name, label: `Answer with ${name}` })),
  ];
  return (
    <fieldset className={classes.group}>
      <legend>Sites and limits</legend>
      <DomainsField
        value={draft.domains}
        error={textOf(props, 'domains', 'allowedDomains').error || undefined}
        fault={domainFault}
        onFault={onDomainFault}
        onChange={(value) => onChange({ ...draft, domains: value })}
      />
      <div className={classes.row}>
        <TextInput
          label="Messages per minute"
          {...number}
          {...textOf(props, 'perMinute', 'rateLimitPerMinute')}
        />
        <TextInput
          label="Messages per day (UTC)"
          {...number}
          {...textOf(props, 'perDay', 'dailyMessageLimit')}
        />
        <TextInput
          label="Per visitor and day"
          placeholder="No limit"
          {...number}
          {...textOf(props, 'visitorPerDay', 'visitorDailyLimit')}
        />
      </div>
      <div className={classes.row}>
        <TextInput
          label="Budget per month (UTC)"
          placeholder="No budget"
          leftSection="$"
          inputMode="decimal"
          autoComplete="off"
          {...textOf(props, 'budget', 'monthlyLimitUsd')}
        />
        <NativeSelect
          label="Once it is spent"
          data={withChosen(fallbacks, draft.fallback, `Answer with ${outOfPlan(draft.fallback)}`)}
          disabled={draft.budget.trim() === ''}
          {...textOf(props, 'fallback', 'fallbackModelPublicName')}
        />
      </div>
      <Checkbox
        label="Accept only answers that the model wrote"
        description="Visitors can’t put words into the model’s mouth."
        checked={draft.verifiedHistory}
        onChange={({ currentTarget }) => onChange({ ...draft, verifiedHistory: currentTarget.checked })}
      />
      <Checkbox
        label="Reject messages that keep repeating"
        description="Stops scripts, and bots that talk to each other."
        checked={draft.loopDetection}
        onChange={({ currentTarget }) => onChange({ ...draft, loopDetection: currentTarget.checked })}
      />
    </fieldset>
  );
}
