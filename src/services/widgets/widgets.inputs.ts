import { z } from 'zod';
import {
  changesSomething,
  EXPECTED,
  label,
  NOTHING_TO_CHANGE,
  plainText,
  TRIMMED,
  textInput,
  wholeInput,
} from '../../lib/input-fields.js';
import { moneyInput } from '../../lib/money-input.js';
import { integerInput } from '../../lib/page-input.js';
import { idOrText } from '../../lib/uuid.js';
import { domainOf } from './domains.rules.js';

export { pageInput } from '../../lib/page-input.js';

const model = z.string('must be the public name of a model').min(1, 'must not be empty').max(200);
const position = z.enum(['bottom-right', 'bottom-left'], 'must be bottom-right or bottom-left');
const primary = z
  .string()
  .regex(/^#[0-9a-fA-F]{6}$/, 'must be a color such as #0b5563')
  .transform((color) => color.toLowerCase());

/** A host name, optionally after `*.`. */
const domain = z
  .string()
  .max(2_000)
  .transform((entered, context) => {
    const host = domainOf(entered);
    if (host !== undefined) return host;
    context.issues.push({
      code: 'custom',
      message: 'must be a host name such as example.com or *.example.com',
      input: entered,
    });
    return z.NEVER;
  });

export const widgetThemeInput = z
  .strictObject({
    primary: primary.optional().describe('Color of button and header, `#rrggbb`.'),
    position: position.optional().describe('Corner of the page: `bottom-right` or `bottom-left`.'),
  })
  .meta({ id: 'ChangeWidgetTheme', description: 'How a widget looks. Omitted fields keep their value.' });

/** @param kind Characters that a text may contain. */
const texts = (kind: typeof plainText) => ({
  system_prompt: kind(0, 20_000).describe(
    'Instructions that precede every conversation, up to 20,000 characters. Visitors never see them.',
  ),
  greeting_message: kind(0, 1_000).describe('First message of the chat, up to 1,000 characters.'),
  placeholder: kind(0, 200).describe('Text in the empty input box, up to 200 characters.'),
});
const { system_prompt, greeting_message, placeholder } = texts(plainText);

const fields = {
  name: label(100).describe(
    `Name, 1 to 100 characters. The chat doesn't show it, but the widget's public configuration contains it. ${TRIMMED}`,
  ),
  model_public_name: model.describe('Public name of the chat model that answers. Your plan must include it.'),
  system_prompt,
  prompt_id: z
    .string()
    .overwrite(idOrText)
    .nullable()
    .describe('ID of a saved prompt whose active version is used in place of `system_prompt`, or null.'),
  greeting_message,
  placeholder,
  theme: widgetThemeInput.describe('How the widget looks.'),
  allowed_domains: z
    .array(domain, 'must be a list of host names')
    .max(50, 'must have at most 50 entries')
    .transform((domains) => [...new Set(domains)])
    .describe(
      'Host names of the sites that may use the widget. `*.example.com` matches subdomains but not example.com. An empty list allows any site.',
    ),
  rate_limit_per_minute: wholeInput(1, 1_000).describe('Messages in any 60 seconds, 1 to 1,000.'),
  daily_message_limit: wholeInput(0, 1_000_000).describe('Messages per UTC day, 0 to 1,000,000.'),
  visitor_daily_limit: wholeInput(1, 1_000_000)
    .nullable()
    .describe('Messages of one visitor per UTC day, or null for no limit.'),
  verified_history: z
    .boolean('must be true or false')
    .describe('Whether messages of the assistant are accepted only with the `mac` that they were sent with.'),
  loop_detection: z
    .boolean('must be true or false')
    .describe('Whether messages that keep repeating, as those of scripts and bots do, are refused.'),
  monthly_limit_usd: moneyInput
    .nullable()
    .describe(
      'Budget per UTC month in US dollars, or null. Once it is spent, the fallback model answers; without one, the widget stops.',
    ),
  fallback_model_public_name: model
    .nullable()
    .describe('Public name of the chat model that answers once the monthly budget is spent, or null.'),
};

const { name, model_public_name, theme: themeField, ...rest } = fields;

export const createWidgetInput = z
  .strictObject({ name, model_public_name, theme: themeField.optional(), ...optional(rest) })
  .meta({ id: 'CreateWidget', description: 'A new chat widget.' });
export type CreateWidgetInput = z.output<typeof createWidgetInput>;

/** Stored texts may be older than the ban on control characters. */
export const expectedWidgetInput = z
  .strictObject(optional({ ...fields, ...texts(textInput) }))
  .meta({ id: 'ExpectedWidget', description: EXPECTED });

export const updateWidgetInput = z
  .strictObject({ ...optional(fields), expected: expectedWidgetInput.optional().describe(EXPECTED) })
  .refine(changesSomething, NOTHING_TO_CHANGE)
  .meta({ id: 'UpdateWidget', description: 'Changes to a chat widget.', minProperties: 1 });
export type UpdateWidgetInput = z.output<typeof updateWidgetInput>;

/** The same fields, all optional. */
function optional<Shape extends Record<string, z.ZodType>>(
  shape: Shape,
): { [Name in keyof Shape]: z.ZodOptional<Shape[Name]> } {
  return Object.fromEntries(
    Object.entries(shape).map(([key, field]) => {
      const { description } = z.globalRegistry.get(field) ?? {};
      const loose = field.optional();
      return [key, description === undefined ? loose : loose.describe(description)];
    }),
  ) as { [Name in keyof Shape]: z.ZodOptional<Shape[Name]> };
}

/** Any text: a malformed id is treated like an unknown one. */
export const widgetParams = z.object({ id: z.string().describe('Widget ID.') });

/** The frame of a widget's chat; without a key it is a preview. */
export const widgetFrameQuery = z.object({
  key: z.string().optional().describe('Public key of the widget.'),
});

/** The window of a widget's usage. */
export const widgetUsageInput = z.strictObject({
  window_days: integerInput(1, 90).default(7).describe('Number of UTC days, including today; 1 to 90.'),
});
