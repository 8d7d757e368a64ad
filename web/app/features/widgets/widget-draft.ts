import { z } from 'zod';
import { WIDGET_DEFAULTS } from '../../../../src/services/widgets/defaults.rules';
import type { WidgetFactsQuery, WidgetRowFragment } from '../../../generated/graphql';
import { trimmedDecimal } from '../../ui/money-text';

const widgetDraft = z.object({
  name: z.string(),
  model: z.string(),
  systemPrompt: z.string(),
  /** Empty: the system prompt. */
  promptId: z.string(),
  greeting: z.string(),
  placeholder: z.string(),
  primary: z.string(),
  position: z.enum(['bottom-right', 'bottom-left']),
  /** One per line. */
  domains: z.string(),
  perMinute: z.string(),
  perDay: z.string(),
  /** Empty: no limit. */
  visitorPerDay: z.string(),
  verifiedHistory: z.boolean(),
  loopDetection: z.boolean(),
  /** Dollars; empty: no budget. */
  budget: z.string(),
  fallback: z.string(),
});
/** The fields of a widget's form, as typed. */
export type WidgetDraft = z.infer<typeof widgetDraft>;

/** Reads a stored draft. */
export const storedWidget = (stored: unknown): WidgetDraft | undefined => widgetDraft.safeParse(stored).data;

/** The name of a widget's draft. */
export const widgetField = (id: string): string => `widget ${id}`;

/** Default: a visitor may use a fifth of the day's messages. */
const VISITOR_SHARE = 5;

/** The form of a new widget, or of an existing one. */
export function draftOf(widget: WidgetRowFragment | undefined, facts: WidgetFactsQuery): WidgetDraft {
  if (!widget) return firstDraft(facts);
  const { theme } = widget;
  return {
    name: widget.name,
    model: widget.modelPublicName,
    systemPrompt: widget.systemPrompt,
    promptId: widget.promptId ?? '',
    greeting: widget.greetingMessage,
    placeholder: widget.placeholder,
    primary: theme.primary,
    position: theme.position as WidgetDraft['position'],
    domains: widget.allowedDomains.join('\n'),
    perMinute: String(widget.rateLimitPerMinute),
    perDay: String(widget.dailyMessageLimit),
    visitorPerDay: String(widget.visitorDailyLimit ?? ''),
    verifiedHistory: widget.verifiedHistory,
    loopDetection: widget.loopDetection,
    budget: widget.monthlyLimitUsd == null ? '' : trimmedDecimal(widget.monthlyLimitUsd),
    fallback: widget.fallbackModelPublicName ?? '',
  };
}

const firstDraft = (facts: WidgetFactsQuery): WidgetDraft => ({
  name: '',
  model: chatModels(facts)[0] ?? '',
  systemPrompt: '',
  promptId: '',
  greeting: WIDGET_DEFAULTS.greeting_message,
  placeholder: WIDGET_DEFAULTS.placeholder,
  primary: WIDGET_DEFAULTS.primary,
  position: WIDGET_DEFAULTS.position,
  domains: '',
  perMinute: String(WIDGET_DEFAULTS.rate_limit_per_minute),
  perDay: String(WIDGET_DEFAULTS.daily_message_limit),
  visitorPerDay: String(WIDGET_DEFAULTS.daily_message_limit / VISITOR_SHARE),
  verifiedHistory: true,
  loopDetection: true,
  budget: '',
  fallback: '',
});

/** Public names of the chat models of the plan. */
export const chatModels = ({ viewer, models }: WidgetFactsQuery): string[] =>
  (models ?? [])
    .filter(
      ({ modelPublicName, family }) =>
        family !== 'embedding' && viewer?.plan.allowedModels.includes(modelPublicName),
    )
    .map(({ modelPublicName }) => modelPublicName);

const whole = (text: string): number => (/^\d{1,9}$/.test(text.trim()) ? Number(text) : -1);

/** Labels of the fields. */
export const FIELD_NAMES: Record<keyof WidgetDraft, string> = {
  name: 'name',
  model: 'model',
  systemPrompt: 'system prompt',
  promptId: 'instructions',
  greeting: 'greeting',
  placeholder: 'text in the empty input box',
  primary: 'color',
  position: 'corner of the page',
  domains: 'allowed domains',
  perMinute: 'messages per minute',
  perDay: 'messages per day',
  visitorPerDay: 'messages per visitor and day',
  verifiedHistory: 'acceptance of answers',
  loopDetection: 'repeating messages',
  budget: 'budget per month',
  fallback: 'model once it is spent',
};

/** The draft as input. An invalid number becomes one that the server refuses with its message. */
export const inputOf = (draft: WidgetDraft) => ({
  name: draft.name,
  modelPublicName: draft.model,
  systemPrompt: draft.systemPrompt,
  promptId: draft.promptId || null,
  greetingMessage: draft.greeting,
  placeholder: draft.placeholder,
  theme: { primary: draft.primary, position: draft.position },
  allowedDomains: draft.domains.split(/[\s,]+/).filter(Boolean),
  rateLimitPerMinute: whole(draft.perMinute),
  dailyMessageLimit: whole(draft.perDay),
  visitorDailyLimit: draft.visitorPerDay.trim() === '' ? null : whole(draft.visitorPerDay),
  verifiedHistory: draft.verifiedHistory,
  loopDetection: draft.loopDetection,
  monthlyLimitUsd: draft.budget.trim() || null,
  fallbackModelPublicName: draft.fallback || null,
});

type WidgetInput = ReturnType<typeof inputOf>;

/** The changes of a draft against its base, with the values they replace; undefined without changes. */
export function changeOf(
  base: WidgetDraft,
  draft: WidgetDraft,
): (Partial<WidgetInput> & { expected: Partial<WidgetInput> }) | undefined {
  const [before, after] = [inputOf(base), inputOf(draft)];
  const names = (Object.keys(after) as (keyof WidgetInput)[]).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  if (names.length === 0) return undefined;
  const only = (input: WidgetInput): Partial<WidgetInput> =>
    Object.fromEntries(names.map((name) => [name, input[name]]));
  return { ...only(after), expected: only(before) };
}
