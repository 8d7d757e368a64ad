import { type ErrorCode, errorTable } from '../../errors.js';
import { WIDGET_DEFAULTS } from '../../services/widgets/defaults.rules.js';
import {
  MAX_CHARACTERS,
  MAX_MESSAGE_CHARACTERS,
  MAX_MESSAGES,
} from '../../services/widgets/widget-chat.inputs.js';
import type { SitePage } from '../site.js';
import { code, docsPage, paragraph, type Section, table } from './html.js';

const figure = (count: number): string => count.toLocaleString('en-US');

const embedding = (baseUrl: string): Section => ({
  id: 'embedding',
  title: 'Embedding',
  body: [
    paragraph(
      'Create a widget in the dashboard, or with `POST /api/widgets`, and put its script tag into your pages:',
    ),
    code(`<script src="${baseUrl}/widget/v1.js" data-pr-widget="wgt_pr_…" async></script>`),
    table(
      ['attribute', 'meaning'],
      [
        ['`data-pr-widget`', 'public key; required'],
        ['`data-pr-position`', '`bottom-right` or `bottom-left`, instead of the widget’s own'],
        ['`data-pr-greeting`', 'first message, instead of the widget’s own'],
        ['`data-pr-host`', 'address of the gateway; by default, the address the script comes from'],
      ],
    ),
    paragraph(
      'The script is smaller than 4 kB. It loads the widget’s look when the page is idle, and the chat when the pointer reaches the button. A second tag on the page does nothing.',
    ),
  ].join(''),
});

const policy = (baseUrl: string): Section => ({
  id: 'policy',
  title: 'Content security policy',
  body: [
    paragraph('A page with a content security policy needs one host, in three directives:'),
    code(`Content-Security-Policy: script-src ${baseUrl}; connect-src ${baseUrl}; frame-src ${baseUrl}`),
  ].join(''),
});

const script: Section = {
  id: 'script',
  title: 'Script API',
  body: [
    code(`GatewayChat.open();
GatewayChat.close();
GatewayChat.send('Do you ship to Norway?');
GatewayChat.on('message', (text) => console.log(text)); // also: open, close, error`),
    paragraph('The conversation survives navigation and ends with the browser tab.'),
  ].join(''),
};

const asking = (baseUrl: string): Section => ({
  id: 'asking',
  title: 'Calling it yourself',
  body: [
    code(`curl ${baseUrl}/api/widget/chat -H 'content-type: application/json' \\
  -d '{"public_key":"wgt_pr_…","messages":[{"role":"user","content":"Hello!"}]}'`),
    paragraph(
      `Send 1 to ${MAX_MESSAGES} messages of the roles \`user\` and \`assistant\`, oldest first, with at most ${figure(MAX_MESSAGE_CHARACTERS)} characters each and ${figure(MAX_CHARACTERS)} in total. The response is \`{ session_id, message: { role, content, mac }, usage }\`. With \`"stream": true\` it is the stream of \`/v1/chat/completions\`, with one more chunk before \`[DONE]\` that has \`session_id\` and \`mac\`. With the next message, send the \`session_id\` and the conversation so far, each message of the assistant with its \`mac\`.`,
    ),
  ].join(''),
});

const CODES: readonly ErrorCode[] = [
  'widget_not_found',
  'widget_origin_denied',
  'validation_error',
  'widget_rate_limit',
  'widget_loop_detected',
  'widget_daily_cap_exceeded',
  'widget_owner_insufficient_balance',
  'widget_monthly_limit_exceeded',
  'model_not_allowed',
];

const errors: Section = {
  id: 'errors',
  title: 'Errors',
  body: [
    paragraph(
      'Checks run in this order. Rejected messages are free and count toward no limit of the widget. They do count toward the limits of their network: beyond them, everything from it gets 429 `rate_limit_exceeded` for the rest of the minute.',
    ),
    table(
      ['status', 'code', 'message'],
      CODES.map((name) => [String(errorTable[name].status), `\`${name}\``, errorTable[name].message]),
    ),
    paragraph(
      'A body that isn’t JSON is 400 `invalid_body`. A message that the model rejects or can’t answer fails as under `/v1`, with 400 `invalid_request`, 502 `upstream_error`, 503 `upstream_unavailable` or `service_unavailable`, or 504 `upstream_timeout`, and is free.',
    ),
  ].join(''),
};

const limits: Section = {
  id: 'limits',
  title: 'What a copied key can cost',
  body: [
    paragraph(
      'The public key is visible in your pages and isn’t a secret. `allowed_domains` tells browsers which sites may use it. It doesn’t stop a program, which can send any `Origin` header. These limits do:',
    ),
    table(
      ['field', 'default', 'limits'],
      [
        [
          '`rate_limit_per_minute`',
          String(WIDGET_DEFAULTS.rate_limit_per_minute),
          'messages in any 60 seconds',
        ],
        ['`daily_message_limit`', String(WIDGET_DEFAULTS.daily_message_limit), 'messages per UTC day'],
        [
          '`visitor_daily_limit`',
          'none',
          'messages per UTC day of one visitor, so that one can’t use up everyone else’s',
        ],
        [
          '`monthly_limit_usd`',
          'none',
          'cost per UTC month; then `fallback_model_public_name` answers, or nobody',
        ],
        [
          '`verified_history`',
          'off',
          'rejects messages of the assistant that the model didn’t write, by their `mac`',
        ],
        ['`loop_detection`', 'off', 'rejects messages that keep repeating'],
      ],
    ),
    paragraph(
      'If you don’t want a key to be used any longer, rotate it: the old one stops within a second on every server.',
    ),
  ].join(''),
};

const instructions: Section = {
  id: 'instructions',
  title: 'Instructions',
  body: paragraph(
    'The system prompt is sent to the model and nowhere else: no response, error, header or log contains it. But a visitor can ask the model to repeat or paraphrase its instructions, and no filter prevents that reliably. Don’t put secrets into them.',
  ),
};

export const widgetGuide = (baseUrl: string): SitePage =>
  docsPage('/docs/widget', 'Chat widget', 'Put a chat answered by one of your models into any web page.', [
    embedding(baseUrl),
    policy(baseUrl),
    script,
    asking(baseUrl),
    errors,
    limits,
    instructions,
  ]);
