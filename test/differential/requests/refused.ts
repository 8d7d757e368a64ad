import { completion, USAGE, whole } from '../answers.js';
import type { Needs } from '../build.js';
import { marker } from '../node.js';
import { chatBody, type MakeStep, type Scenario, scenariosOf, toV1 } from '../scenario.js';
import type { Sent } from '../send.js';

/** Requests that fail a check of `/v1`, alone and together with later ones. */

const CHAT = chatBody('Hi');
const bare = (method: string, path: string, headers: Record<string, string> = {}, body?: string): Sent => ({
  method,
  path,
  headers,
  ...(body !== undefined && { body }),
});
const sent =
  (one: Sent): MakeStep =>
  () => ({ sent: one });

const CREDENTIALS: readonly Record<string, string>[] = [
  {},
  ...[
    '',
    'Bearer',
    'Bearer ',
    'Basic eDp5',
    '{key}',
    'bearer {key}',
    'Bearer  {key}',
    'Bearer {key} ',
    'Bearer {key}x',
    'Bearer {token}',
    `Bearer sk-pr-${'a'.repeat(46)}`,
    'Bearer sk-x',
    'Bearer {key}, Bearer {key}',
  ].map((authorization) => ({ authorization })),
  { 'x-api-key': '{key}' },
  { 'api-key': '{key}' },
  { cookie: 'pr_session={token}' },
];
const KEY = { authorization: 'Bearer {key}' };
const ROUTES: readonly (readonly [string, string])[] = [
  ...[
    '/v1',
    '/v1/',
    '/v1/models/gateway/fast',
    '/v1/completions',
    '/v1/none',
    '/v1/chat',
    '/v1/responses/x',
    '/v1/%zz',
    '/v1/models?x=1',
    '/v1/messages',
  ].flatMap((path) => [['GET', path] as const, ['POST', path] as const]),
  ...[
    '//v1/chat/completions',
    '/v1//chat/completions',
    '/v1/v1/chat/completions',
    '/v1/chat/completions/',
    '/openai/v1/chat/completions',
    '/api/v1/chat/completions',
    '/V1/chat/completions',
    '/v1/chat/completions?x=y',
    '/v1/chat/../embeddings',
    '/v1/audio/speech',
  ].map((path) => ['POST', path] as const),
  ...['PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'GET'].flatMap((method) => [
    [method, '/v1/chat/completions'] as const,
    [method, '/v1/models'] as const,
  ]),
  ['GET', '/health'],
  ['GET', '/none'],
];

const open = (): MakeStep[] => [
  ...CREDENTIALS.flatMap((headers) => [
    sent(
      bare(
        'POST',
        '/v1/chat/completions',
        { ...headers, 'content-type': 'application/json' },
        JSON.stringify(CHAT),
      ),
    ),
    sent(bare('GET', '/v1/models', headers)),
    sent(bare('POST', '/v1/none', headers, 'no json')),
  ]),
  ...ROUTES.map(([method, path]) =>
    sent(bare(method, path, KEY, method === 'POST' ? JSON.stringify(CHAT) : undefined)),
  ),
  sent(
    bare('OPTIONS', '/v1/chat/completions', {
      origin: 'https://a.b',
      'access-control-request-headers': 'x-y',
    }),
  ),
  sent(bare('POST', '/v1/chat/completions', { ...KEY, expect: '100-continue' }, JSON.stringify(CHAT))),
  sent(bare('POST', '/v1/chat/completions', { ...KEY, expect: 'nonsense' }, JSON.stringify(CHAT))),
  sent(bare('POST', '/v1/chat/completions', { ...KEY, 'x-large': 'y'.repeat(70_000) }, JSON.stringify(CHAT))),
];

/** Valid and invalid bodies and models, for accounts that fail other checks as well. */
const MIXED: readonly unknown[] = [
  CHAT,
  { ...CHAT, stream: true },
  { ...CHAT, model: 'gateway/none' },
  { ...CHAT, model: 'gateway/qwen-pro' },
  { ...CHAT, max_tokens: 2_000 },
  'no json',
  {},
];
const mixed = (): MakeStep[] => [
  ...MIXED.map(
    (body): MakeStep =>
      () => ({ sent: toV1('/chat/completions', body) }),
  ),
  () => ({ sent: toV1('/embeddings', { model: 'gateway/embed', input: 'x' }) }),
  () => ({ sent: toV1('/responses', { model: 'gateway/fast', input: 'x' }) }),
  sent(bare('GET', '/v1/models', KEY)),
  sent(bare('POST', '/v1/none', KEY)),
];

const ACCOUNTS: Record<string, Needs> = {
  disabled: { key: { status: 'disabled' } },
  poor: { balance: '0' },
  'below-floor': { balance: '0.000999999999' },
  negative: { balance: '-1' },
  free: { plan: 'free' },
  starter: { plan: 'starter' },
  unconfigured: { unconfigured: true },
  'unconfigured-poor': { unconfigured: true, balance: '0' },
  'capped-zero': { key: { daily_limit_usd: 0 } },
  'capped-small': { key: { daily_limit_usd: 0.00002 } },
  'capped-poor': { key: { daily_limit_usd: 0 }, balance: '0' },
};

/** Calls with the same cost, until the account or its cap has nothing left. */
const spending = (calls: number, usage: object): MakeStep[] =>
  Array.from({ length: calls }, () => (id) => ({
    script: [whole(completion({ usage: { ...USAGE, ...usage } }))],
    sent: toV1('/chat/completions', chatBody(`Hi ${marker(id)}`, { max_tokens: 100 })),
  }));

/** More than the twenty calls per minute that the plan allows. */
const flood = (): MakeStep[] =>
  Array.from({ length: 26 }, (_, i) => sent(toV1('/chat/completions', chatBody(`call ${i}`))));

export const refusedRequests = (): Scenario[] => [
  ...scenariosOf('open', open()),
  ...Object.entries(ACCOUNTS).flatMap(([name, needs]) => scenariosOf(`refused-${name}`, mixed(), { needs })),
  ...scenariosOf('spend-balance', spending(30, { completion_tokens: 2_000 }), {
    needs: { balance: '0.0105' },
  }),
  ...scenariosOf('spend-near-floor', spending(30, {}), { needs: { balance: '0.0012' } }),
  ...scenariosOf('spend-cap', spending(30, { completion_tokens: 900 }), {
    needs: { key: { daily_limit_usd: 0.004 } },
  }),
  ...scenariosOf('flood', flood(), { needs: { plan: 'free' } }),
];
