import type { Random } from '../../hostile/fuzz/random.js';
import { completion, type Framing, USAGE, vectors, whole } from '../answers.js';
import { marker, type Script } from '../node.js';
import { chatBody, type Scenario, type Step, scenariosOf, toV1 } from '../scenario.js';

/** Whole responses to usual calls, from nodes of all kinds. */

/** Members of a request, known or not. */
const MEMBERS: Record<string, readonly unknown[]> = {
  temperature: [0, 1.5, 2, null],
  top_p: [0.1, 1],
  n: [1, 2, 128],
  max_tokens: [1, 16, 1_000],
  max_completion_tokens: [5, 500],
  stop: ['x', ['a', 'b'], null],
  seed: [7],
  user: ['somebody', ''],
  tools: [
    [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }],
    [],
  ],
  tool_choice: ['auto', 'none', { type: 'function', function: { name: 'f' } }],
  response_format: [{ type: 'json_object' }, { type: 'text' }],
  logit_bias: [{ '50256': -100 }],
  logprobs: [true],
  top_logprobs: [3],
  metadata: [{ a: 'b' }],
  service_tier: ['auto', 'flex'],
  store: [true, false],
  top_k: [40],
  guided_json: [{ type: 'object' }],
  chat_template: ['{{ x }}'],
  api_base: ['http://10.0.0.1/v1'],
  priority: [1],
  reasoning_effort: ['low'],
  unknown_member: [{ deep: [1, 2, { x: null }] }],
  stream: [false],
  stream_options: [null],
};

export function someMembers(random: Random, share = 0.12): Record<string, unknown> {
  const chosen = Object.entries(MEMBERS).filter(() => random.chance(share));
  return Object.fromEntries(chosen.map(([name, values]) => [name, random.pick(values)]));
}

const CONTENTS: readonly unknown[] = [
  'Hello.',
  '',
  null,
  'Zeile\nzwei\u2028drei \u0000 "quoted" \\ 🔑 \ud800',
  [{ type: 'text', text: 'a part' }],
  [
    { type: 'text', text: 'one' },
    { type: 'thinking', thinking: 'hm' },
  ],
  '<think>hidden</think>shown',
  'a'.repeat(5_000),
];
const USAGES: readonly unknown[] = [
  USAGE,
  USAGE,
  USAGE,
  undefined,
  null,
  {},
  { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  { prompt_tokens: -1, completion_tokens: 5 },
  { prompt_tokens: 1.5, completion_tokens: 5 },
  { prompt_tokens: '12', completion_tokens: '34' },
  { prompt_tokens: 1e9 + 1, completion_tokens: 1 },
  { prompt_tokens: 100_000, completion_tokens: 50_000, total_tokens: 150_000 },
  { prompt_tokens: 3 },
  { completion_tokens: 3 },
  {
    ...USAGE,
    prompt_tokens_details: { cached_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: 9 },
  },
  'many',
  [1],
];
const FINISHES: readonly unknown[] = [
  'stop',
  'stop',
  'stop',
  'length',
  'tool_calls',
  'content_filter',
  null,
  'error',
];
const EXTRAS: readonly Record<string, unknown>[] = [
  {},
  {},
  {},
  { system_fingerprint: 'fp_x', service_tier: 'default' },
  { prompt_logprobs: null, kv_transfer_params: null },
  { x: { model: 'of-the-node', 'm\u00f6del': 1 } },
  { object: 'other', id: 7, created: 'now' },
  { error: null },
  { timings: { predicted_ms: 12.5 } },
];

const message = (random: Random): Record<string, unknown> => ({
  role: 'assistant',
  content: random.pick(CONTENTS),
  ...(random.chance(0.15) && {
    tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a": 1}' } }],
  }),
  ...(random.chance(0.1) && { reasoning_content: 'thinking' }),
  ...(random.chance(0.05) && { refusal: 'No.' }),
});

const SPACES = [undefined, undefined, 1, '\t'];
const FRAMINGS: readonly Framing[] = ['length', 'length', 'chunked', 'close'];

/** A whole answer of a node, cut in up to four places. */
export function anyAnswer(random: Random): Script {
  const usage = random.pick(USAGES);
  const body = JSON.stringify(
    completion({
      choices: Array.from({ length: random.pick([1, 1, 1, 2, 0]) }, (_, index) => ({
        index,
        message: message(random),
        finish_reason: random.pick(FINISHES),
      })),
      usage,
      ...random.pick(EXTRAS),
    }),
    undefined,
    random.pick(SPACES),
  );
  return [whole(body, { framing: random.pick(FRAMINGS), cuts: someCuts(random, body.length + 150) })];
}

export const someCuts = (random: Random, length: number): number[] =>
  Array.from({ length: random.below(5) }, () => random.below(length));

const INPUTS: readonly unknown[] = [
  'one',
  ['one', 'two'],
  ['', 'x'],
  [1, 2, 3],
  [
    [1, 2],
    [3, 4],
  ],
  [],
  '',
  Array.from({ length: 40 }, (_, i) => `text ${i}`),
];
const VECTORS: readonly ((count: number) => unknown)[] = [
  vectors,
  vectors,
  vectors,
  (count) => vectors(count, { usage: undefined }),
  (count) => vectors(count, { usage: { prompt_tokens: 2.5, total_tokens: 1 } }),
  (count) => vectors(count + 1),
  (count) => vectors(Math.max(0, count - 1)),
  (count) => vectors(count, { data: [{ object: 'embedding', index: 0, embedding: [0.8, null] }] }),
  (count) => vectors(count, { data: [{ object: 'embedding', index: 0, embedding: 'AACAPwAAAEA=' }] }),
  (count) => vectors(count, { data: [{ object: 'embedding', embedding: [[1], [2]] }] }),
  (count) => vectors(count, { data: [] }),
  (count) => vectors(count, { data: undefined }),
  (count) => JSON.stringify(vectors(count)).replace('0.2', 'NaN'),
  (count) => JSON.stringify(vectors(count)).replace(/-?[\d.]+(?=,)/, '1e-310'),
];

function embedding(random: Random, id: string): Step {
  const input = random.pick(INPUTS);
  const marked =
    Array.isArray(input) && typeof input[0] === 'string' ? [marker(id), ...input.slice(1)] : input;
  const named = typeof marked === 'string' ? marked + marker(id) : marked;
  const count = Array.isArray(named) && typeof named[0] !== 'number' ? named.length : 1;
  const answer = random.pick(VECTORS)(count);
  const body = {
    model: random.pick(['gateway/embed', 'gateway/embed', 'gateway/embed', 'gateway/fast']),
    input: named,
    ...(random.chance(0.3) && { encoding_format: random.pick(['float', 'base64', 'x', null]) }),
    ...(random.chance(0.2) && { dimensions: random.pick([8, 768, 0, 'x']) }),
    ...(random.chance(0.1) && { stream: true }),
    ...(random.chance(0.1) && { input_type: 'query', truncate: true, user: 'u' }),
  };
  return {
    script: [whole(answer, { framing: random.pick(FRAMINGS), cuts: someCuts(random, 800) })],
    sent: toV1('/embeddings', body),
  };
}

/** Calls that are answered whole. */
export function plainCalls(random: Random): Scenario[] {
  const chat = Array.from({ length: 1_100 }, () => (id: string) => ({
    script: anyAnswer(random),
    sent: toV1(
      '/chat/completions',
      chatBody(`Hi ${marker(id)}`, {
        model: random.pick(['gateway/fast', 'gateway/fast', 'gateway/qwen-pro', 'gateway/embed']),
        ...someMembers(random),
      }),
      random.chance(0.1)
        ? { 'x-gateway-prompt-version': random.pick(['x', '01900000-0000-7000-8000-000000000000']) }
        : {},
    ),
  }));
  const embeddings = Array.from({ length: 300 }, () => (id: string) => embedding(random, id));
  return [...scenariosOf('chat', chat), ...scenariosOf('embeddings', embeddings)];
}
