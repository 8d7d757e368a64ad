import { createMaxPriceLookup } from '../../../src/inference/limits/price-ceiling.js';
import { type InspectedBody, inspectBody } from '../../../src/inference/request/request-body.js';
import { costBound, estimateInputTokens } from '../../../src/inference/usage/usage.js';
import { costOf, type Money } from '../../../src/lib/money.js';
import { anyText } from '../../support/any-text.js';
import fc from '../../support/fast-check.js';
import { sized } from '../../support/size.js';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const WINDOW = 60_000;
const MODEL = { contextWindow: WINDOW, priceIn: 3n as Money, priceOut: 7n as Money };

/** The most tokens that a node may count for a text: one per byte. */
const textTokens = (text: string): number => Buffer.byteLength(text);

/** An object as a chat template writes it: indented by four, as Llama's does. */
const templated = (value: Json | undefined): number =>
  value === undefined ? 0 : textTokens(JSON.stringify(value, null, 4).replace(/\n +/g, '\n    '));

interface Part {
  type: string;
  text?: string;
  image_url?: { url: string };
}

/** Most tokens that a truthful node reports for a chat: one window holds the prompt, and the answers each the rest. */
function mostOfChat(body: Record<string, Json>): { input: number; output: number } {
  const messages = body.messages as unknown as { role: string; content: string | Part[] }[];
  let input = 500 + templated(body.tools) + templated(body.functions) + templated(body.documents);
  for (const { role, content } of messages) {
    input += 8 + textTokens(role);
    for (const part of typeof content === 'string' ? [{ type: 'text', text: content }] : content)
      input += textTokens(part.text ?? '') + (part.image_url ? 16_384 : 0);
  }
  const choices = Math.max(Number(body.n ?? 1), Number(body.best_of ?? 1));
  const named = [body.max_tokens, body.max_completion_tokens].filter((count) => typeof count === 'number');
  const most = named.length > 0 ? Math.max(...(named as number[])) : WINDOW;
  return { input: Math.min(WINDOW, input), output: choices * Math.min(WINDOW, most) };
}

/** Nothing bounds the sum of embeddings: each input has a window and two marks of its own. */
function mostOfEmbeddings({ input }: Record<string, Json>): { input: number; output: number } {
  const inputs = typeof input === 'string' ? [input] : (input as (string | number[] | number)[]);
  const tokens = typeof inputs[0] === 'number' ? [inputs.length + 2] : inputs.map(tokensOf);
  return { input: tokens.reduce((sum, count) => sum + count, 0), output: 0 };
}

const tokensOf = (one: string | number[] | number): number =>
  Math.min(WINDOW, 2 + (typeof one === 'string' ? textTokens(one) : (one as number[]).length));

/** JSON as clients write it: plain, indented, with escapes beyond ASCII, or with escaped names. */
const written = (body: Json, style: number): Buffer => {
  const plain = style === 1 ? JSON.stringify(body, null, 2) : JSON.stringify(body);
  if (style === 2) return Buffer.from(plain.replace(/[^\x20-\x7e]/g, escapeOf));
  return Buffer.from(style === 3 ? plain.replaceAll('image_url', 'im\\u0061ge\\u005furl') : plain);
};

const escapeOf = (letter: string): string => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;

const text = fc.oneof(anyText(60), fc.string({ maxLength: 200 }));
const url = fc.webPath().map((path) => `https://images.example.com${path}`);
const part = fc.oneof(
  fc.record({ type: fc.constant('text'), text }),
  fc.record({
    type: fc.constantFrom('image_url', 'input_image'),
    image_url: fc.record({ url, detail: fc.constantFrom('low', 'high') }),
  }),
  fc.record({ image_url: fc.record({ url }) }),
);
const message = fc.record({
  role: fc.constantFrom('system', 'user', 'assistant', 'tool'),
  content: fc.oneof(text, fc.array(part, { maxLength: 3 })),
});
const values = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
const count = fc.option(fc.integer({ min: 1, max: 100_000 }));
const chat = fc.record(
  {
    messages: fc.array(message, { minLength: 1, maxLength: 6 }),
    tools: fc.array(
      fc.record({
        type: fc.constantFrom('function', 'custom'),
        function: fc.oneof(values, fc.array(fc.nat(9), { maxLength: 400 })),
      }),
      { maxLength: 3 },
    ),
    functions: fc.array(values, { maxLength: 2 }),
    documents: fc.array(fc.record({ title: text, text }), { maxLength: 2 }),
    max_tokens: count,
    max_completion_tokens: count,
    n: fc.option(fc.integer({ min: 1, max: 128 })),
    best_of: fc.option(fc.integer({ min: 1, max: 128 })),
  },
  { requiredKeys: ['messages'] },
);
const embeddings = fc.record({
  input: fc.oneof(
    text,
    fc.array(text, { minLength: 1, maxLength: 50 }),
    fc.array(fc.nat(150_000), { minLength: 1, maxLength: 50 }),
    fc.array(fc.array(fc.nat(150_000), { minLength: 1, maxLength: 50 }), { minLength: 1, maxLength: 20 }),
  ),
});

/** What an operator may let through beside the known members, and counts by more than its bytes. */
const ALLOWED = new Set(['chat_template', 'mm_processor_kwargs', 'web_search_options']);
const read = (body: Buffer): InspectedBody => inspectBody(body, ALLOWED);

const holdsFor = (
  body: Record<string, unknown>,
  style: number,
  most: (body: Record<string, Json>) => { input: number; output: number },
): void => {
  const full = { model: 'm', ...body } as Record<string, Json>;
  const { input, output } = most(full);
  const inspected = read(written(full, style));
  const hold = costBound(inspected, MODEL);
  expect(hold).toBeGreaterThanOrEqual(costOf(input, output, MODEL.priceIn, MODEL.priceOut));
  const endpoint = 'input' in full ? 'embeddings' : 'chat';
  const estimated = estimateInputTokens(inspected.input, endpoint, WINDOW);
  expect(costBound({ ...inspected, maxTokens: 1 }, MODEL)).toBeGreaterThanOrEqual(
    costOf(estimated, 0, MODEL.priceIn, MODEL.priceOut),
  );
};

describe('the hold of a call', () => {
  const style = fc.nat(3);

  test('a hold covers whatever a truthful node can report for a chat', () => {
    fc.assert(
      fc.property(chat, style, (body, how) => holdsFor(body, how, mostOfChat)),
      { numRuns: sized(500, 5_000) },
    );
  });

  test('a hold covers tools that a template writes over many lines', () => {
    const tools = [{ type: 'function', function: { enum: Array.from({ length: 2_000 }, () => 1) } }];
    holdsFor({ messages: [{ role: 'user', content: '' }], tools, max_tokens: 1 }, 0, mostOfChat);
  });

  test('a hold covers whatever a truthful node can report for embeddings', () => {
    fc.assert(
      fc.property(embeddings, style, (body, how) => holdsFor(body, how, mostOfEmbeddings)),
      { numRuns: sized(300, 3_000) },
    );
  });

  test('a hold covers each fallback, at its own prices and with its own context', () => {
    const draft = fc.record({
      contextWindow: fc.integer({ min: 1_000, max: 200_000 }),
      priceIn: fc.bigInt(0n, 10n),
      priceOut: fc.bigInt(0n, 10n),
    });
    const fallbacks = fc.option(fc.subarray([1, 2, 3]), { nil: undefined });
    const calls = fc.record({
      bytes: fc.nat(400_000),
      maxTokens: count,
      candidates: fc.integer({ min: 1, max: 128 }),
    });
    fc.assert(
      fc.property(
        fc.array(draft, { minLength: 4, maxLength: 4 }),
        fallbacks,
        calls,
        (drafts, others, call) => {
          const models = drafts.map((model, at) => ({
            ...model,
            publicName: String(at),
            kind: 'chat' as const,
          }));
          const ceilingOf = createMaxPriceLookup(
            {
              get: (name) => models[Number(name)],
              all: () => models,
              names: new Set<string>(),
              reload: async () => undefined,
              stop: () => undefined,
            },
            {
              fallbacksOf: () => others?.map(String),
              version: () => 1,
            },
          );
          const input = { bytes: call.bytes, images: 0, batchTokens: 0, promptTokens: call.bytes };
          const hold = costBound({ ...call, input }, ceilingOf(models[0]!));
          for (const at of [0, ...(others ?? [1, 2, 3])]) {
            const { contextWindow, priceIn, priceOut } = models[at]!;
            const answer = Math.min(call.maxTokens ?? contextWindow, contextWindow) * call.candidates;
            expect(hold).toBeGreaterThanOrEqual(
              costOf(Math.min(call.bytes, contextWindow), answer, priceIn, priceOut),
            );
          }
        },
      ),
      { numRuns: sized(200, 2_000) },
    );
  });

  const bound = (body: unknown): Money =>
    costBound(read(Buffer.from(JSON.stringify({ model: 'm', ...(body as object) }))), {
      ...MODEL,
      priceOut: 0n,
    });
  const withPart = (part: object) => ({ messages: [{ role: 'user', content: [part] }] });
  const window = MODEL.priceIn * BigInt(WINDOW);

  test.each([
    ['a video', withPart({ type: 'video_url', video_url: { url: 'https://a.example/v' } })],
    ['a sound', withPart({ type: 'audio_url', audio_url: { url: 'https://a.example/a' } })],
    ['a file', withPart({ type: 'file', file: { file_id: 'file-1' } })],
    ['a template of its own', { chat_template: '{% for i in range(100000) %}x{% endfor %}', messages: [] }],
    ['images as large as it likes', { mm_processor_kwargs: { max_pixels: 1e9 }, messages: [] }],
    ['a search of the web', { web_search_options: {}, messages: [] }],
    ['a hundred images', withPart({ urls: Array.from({ length: 100 }, () => ({ image_url: 'data:,' })) })],
  ])('a hold covers the whole context for %s, whose tokens are unknown', (_what, body) => {
    expect(bound(body)).toBe(window);
  });

  test('a hold covers only bytes and template for a text that merely mentions images', () => {
    const content =
      'Set {"type":"image_url"} or "file_id" and \\u00e9, as in "image_url": "https://a.example".';
    expect(bound({ messages: [{ role: 'user', content }] })).toBeLessThan(window / 30n);
  });

  test.each(['max_tokens', 'max_completion_tokens'])(
    'a hold covers the context if %s is null or absent',
    (name) => {
      const hold = (limit: object) =>
        costBound(read(Buffer.from(JSON.stringify({ model: 'm', ...limit }))), MODEL);
      const full = MODEL.priceOut * BigInt(WINDOW);
      expect(hold({})).toBe(full);
      expect(hold({ [name]: null })).toBe(full);
      expect(hold({ [name]: 10 })).toBe(MODEL.priceOut * 10n);
      expect(hold({ [name]: 10, n: 3, best_of: 5 })).toBe(MODEL.priceOut * 50n);
      expect(hold({ [name]: 1_000_000, n: 2 })).toBe(full * 2n);
    },
  );
});
