import { z } from 'zod';
import { count, decimal, timestamp, uuid } from '../../lib/output-fields.js';

export const widgetThemeOutput = z
  .object({
    primary: z.string().describe('Color of button and header, `#rrggbb`.'),
    position: z
      .enum(['bottom-right', 'bottom-left'])
      .describe('Corner of the page: `bottom-right` or `bottom-left`.'),
  })
  .meta({ id: 'WidgetTheme', description: 'How a widget looks.' });

export const widgetOutput = z
  .object({
    id: uuid('Widget ID.'),
    public_key: z
      .string()
      .describe('Key that names the widget in pages: `wgt_pr_` and 24 characters. It is not a secret.'),
    name: z
      .string()
      .describe("Name. The chat doesn't show it, but the widget's public configuration contains it."),
    model_public_name: z.string().describe('Public name of the model that answers.'),
    system_prompt: z
      .string()
      .describe('Instructions that precede every conversation. Visitors never see them.'),
    prompt_id: uuid(
      'ID of the saved prompt whose active version is used in place of `system_prompt`, or null.',
    ).nullable(),
    greeting_message: z.string().describe('First message of the chat.'),
    placeholder: z.string().describe('Text in the empty input box.'),
    theme: widgetThemeOutput.describe('How the widget looks.'),
    allowed_domains: z
      .array(z.string())
      .describe('Host names of the sites that may use the widget. An empty list allows any site.'),
    rate_limit_per_minute: z.int().describe('Messages in any 60 seconds.'),
    daily_message_limit: z.int().describe('Messages per UTC day.'),
    visitor_daily_limit: z.int().nullable().describe('Messages of one visitor per UTC day. Null: no limit.'),
    verified_history: z
      .boolean()
      .describe(
        'Whether messages of the assistant are accepted only with the `mac` that they were sent with.',
      ),
    loop_detection: z.boolean().describe('Whether messages that keep repeating are refused.'),
    monthly_limit_usd: decimal('Budget per UTC month in US dollars, or null.').nullable(),
    fallback_model_public_name: z
      .string()
      .nullable()
      .describe('Public name of the model that answers once the monthly budget is spent, or null.'),
    status: z.enum(['active', 'deleted']).describe('Widget status: `active` or `deleted`.'),
    messages_today: z.int().describe('Messages answered on the current UTC day.'),
    spend_month_usd: decimal('Cost in the current UTC month in US dollars.'),
    created_at: timestamp('Creation time.'),
  })
  .meta({ id: 'Widget', description: 'A chat widget for web pages.' });
export const widgetsOutput = z.array(widgetOutput).describe('Widgets, newest first.');
export type WidgetOutput = z.infer<typeof widgetOutput>;

const sums = {
  messages: z.int().describe('Messages answered.'),
  errors: z.int().describe('Messages that failed at the model. They are free.'),
  input_tokens: count('Input tokens.'),
  output_tokens: count('Output tokens.'),
  cost_usd: decimal('Cost in US dollars.'),
};

export const widgetDayOutput = z
  .object({ date: z.string().describe('UTC day, `YYYY-MM-DD`.'), ...sums })
  .meta({ id: 'WidgetDay', description: 'Usage of a widget on one UTC day.' });

export const widgetRefusalOutput = z
  .object({
    code: z
      .string()
      .describe(
        'Error code that visitors got. Of `widget_rate_limit`, those that concern one visitor alone are listed as `visitor_rate_limit` and `visitor_daily_limit`.',
      ),
    count: count('Messages refused with it.'),
  })
  .meta({ id: 'WidgetRefusal', description: 'Messages of a widget that were refused for one reason.' });

export const widgetSiteOutput = z
  .object({
    site: z.string().describe('Host name of the site. Empty if the request named none.'),
    messages: count('Messages answered.'),
    refused: count('Messages refused.'),
    cost_usd: decimal('Cost of the messages answered in US dollars.'),
  })
  .meta({ id: 'WidgetSite', description: 'Messages of a widget from one site.' });

export const widgetUsageOutput = z
  .object({
    window_days: z.int().describe('Number of UTC days, including today.'),
    ...sums,
    daily_breakdown: z
      .array(widgetDayOutput)
      .describe('One entry per day, oldest first. Days without messages are included with 0.'),
    refused: z.array(widgetRefusalOutput).describe('Rejected messages by error code, most frequent first.'),
    sites: z.array(widgetSiteOutput).describe('The 50 sites with the most messages.'),
  })
  .meta({ id: 'WidgetUsage', description: 'Usage of a widget in a window of days.' });
export type WidgetUsageOutput = z.infer<typeof widgetUsageOutput>;
