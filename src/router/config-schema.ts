import { z } from 'zod';
import { type Money, parseMoney } from '../lib/money.js';
import { withoutEndSlashes } from '../lib/trim-end.js';
import { BOUND_FIELDS } from './output-bound.js';

/**
 * What the router reads of a routing file. Other keys are LiteLLM's, and ignored-keys.ts names them. Prices arrive as text, see
 * config-file.ts.
 */

/** Providers with OpenAI's interface: the part before the first slash of `litellm_params.model`. */
const PROVIDERS = [
  'openai',
  'hosted_vllm',
  'openai_like',
  'custom_openai',
  'litellm_proxy',
  'llamafile',
  'lm_studio',
];
const AZURE = 'azure';
const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,2}))?$/;

/** Exact value of a YAML number such as `0.0000001` or `1e-07`. @throws RangeError */
export function costPerToken(text: string): Money {
  const match = NUMBER.exec(text);
  if (!match || !(match[2] || match[3])) throw new RangeError('not a number');
  if (match[1] === '-') throw new RangeError('negative');
  const digits = `${match[2]}${match[3] ?? ''}`;
  const point = (match[2] ?? '').length + Number(match[4] ?? 0);
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0';
  const fraction = point >= 0 ? digits.slice(point) : '0'.repeat(-point) + digits;
  return parseMoney(fraction === '' ? whole : `${whole}.${fraction}`);
}

const cost = z.string({ error: 'must be a number of dollars per token' }).transform((text, context) => {
  try {
    return costPerToken(text);
  } catch {
    context.addIssue({
      code: 'custom',
      message: 'must be a number of dollars per token, not negative, with at most 12 decimals',
    });
    return z.NEVER;
  }
});

const hasUser = (address: string): boolean => {
  const url = URL.parse(address);
  return url !== null && `${url.username}${url.password}` !== '';
};

const seconds = z.number().positive().max(86_400);

const upstreamModel = z
  .string()
  .min(1)
  .transform((text, context) => {
    const slash = text.indexOf('/');
    if (slash < 0) return { name: text, azure: false };
    const provider = text.slice(0, slash);
    if (!(PROVIDERS.includes(provider) || provider === AZURE) || slash === text.length - 1) {
      const known = [...PROVIDERS, AZURE].join(', ');
      context.addIssue({
        code: 'custom',
        message: `must be provider/model with an OpenAI-compatible provider (${known})`,
      });
      return z.NEVER;
    }
    return { name: text.slice(slash + 1), azure: provider === AZURE };
  });

/** Calls are sent to this host, below this path. Any other part of the URL would be ignored. */
const apiBase = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address such as http://10.0.0.5:8000/v1' })
  .refine((text) => !/[?#]/.test(text) && !hasUser(text), {
    error: 'must not have a user name, a password, a query or a fragment; credentials go into api_key',
  })
  .transform(withoutEndSlashes);

/** Sent in a header unchanged. */
const headerValue = z
  .string()
  .regex(/^[\t\x20-\x7e\x80-\xff]+$/, { error: 'must be one line of characters that a header may carry' });

/** The router and the connection set these. */
const OWN_HEADERS = [
  'accept',
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
const extraHeaders = z.record(z.string(), headerValue).superRefine((headers, context) => {
  for (const name of Object.keys(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
      context.addIssue({ code: 'custom', path: [name], message: 'must be the name of a header' });
    else if (OWN_HEADERS.includes(name.toLowerCase()))
      context.addIssue({ code: 'custom', path: [name], message: 'is a header that the router sets' });
  }
});

const perMinute = z.number().int().min(1).max(1_000_000_000);

/** An address of Azure with a path of deployments needs a version; its newer `/openai/v1` doesn't. */
export const isAzureV1 = (base: string): boolean => /\/openai\/v1$/.test(base);

export const deployment = z.looseObject({
  model_name: z.string().min(1).max(200),
  litellm_params: z.looseObject({
    model: upstreamModel,
    api_base: apiBase,
    api_key: headerValue.optional(),
    extra_headers: extraHeaders.default({}),
    organization: headerValue.optional(),
    api_version: z
      .string()
      .regex(/^[\w.-]{1,100}$/, { error: 'must be a version such as 2024-10-21' })
      .optional(),
    rpm: perMinute.optional(),
    tpm: perMinute.optional(),
    max_parallel_requests: z.number().int().min(1).max(100_000).optional(),
    input_cost_per_token: cost,
    output_cost_per_token: cost,
    timeout: seconds.optional(),
    stream_timeout: seconds.optional(),
    weight: z.number().min(0).max(1_000_000).optional(),
  }),
  model_info: z.looseObject({
    id: z.string().min(1).max(200),
    // Not under litellm_params: LiteLLM would send it to the node.
    max_tokens_field: z
      .enum([...BOUND_FIELDS, 'both'], { error: 'must be max_tokens, max_completion_tokens or both' })
      .default('both'),
  }),
});

export const routerSettings = z.looseObject({
  routing_strategy: z
    .literal('simple-shuffle', { error: 'only simple-shuffle is supported' })
    .default('simple-shuffle'),
  num_retries: z.number().int().min(0).max(10).default(2),
  retry_after: z.number().min(0).max(3_600).default(5),
  allowed_fails: z.number().int().min(0).max(1_000).default(3),
  cooldown_time: z.number().min(0).max(86_400).default(60),
  timeout: seconds.optional(),
  fallbacks: z.array(z.record(z.string(), z.array(z.string()).min(1))).default([]),
});

export const generalSettings = z.looseObject({ master_key: z.string().min(1).optional() });

export const routingFile = z.looseObject({
  model_list: z
    .array(deployment, { error: 'must be a list of deployments' })
    .min(1, 'must have a deployment'),
  router_settings: routerSettings.prefault({}),
  general_settings: generalSettings.prefault({}),
});

export type RoutingFile = z.infer<typeof routingFile>;
