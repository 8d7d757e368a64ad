import { cleanMessage, isKnownField } from '../../src/lib/clean-message.js';
import { KNOWN_REFUSALS } from '../../src/lib/known-refusals.js';
import { CONTROL_NAMES } from '../../src/proxy/simulator/controls.js';
import fc from '../support/fast-check.js';

const SECRET = [
  'http://10.0.0.5:8000/v1/chat',
  'https://node-7.internal.example.com/v1?key=1',
  '10.0.0.5',
  '10.0.0.5:8000',
  'node-7.gpu.svc.cluster.local:8000',
  'gpu-7.eu.acme.cloud',
  'GPU-7.EU.ACME.CLOUD:443',
  'model.prompt.acme',
  'unix:/run/vllm.sock',
  '/run/vllm.sock',
  'localhost:11434',
  'localhost',
  'worker7',
  '[fe80::1ff:fe23:4567:890a]:8000',
  '2001:db8::8a2e:370:7334',
  '[::1]:8000',
  'postgresql://user:pass@db:5432/x',
  'sk-1234567890abcdef',
  'hf_abcdefghijklmnop',
  'abc.def.ghi',
  'Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZg',
  'correcthorse',
  '/usr/local/lib/python3.11/site-packages/vllm/engine.py',
  '/root/.cache/huggingface/model.bin',
  'C:\\models\\qwen.gguf',
  'ｇｐｕ７.acme',
  'messages.10.0.0.5',
  'gateway/node--7',
  'gateway/node-7.acme',
];
/** What remains when the signs are gone that part words from each other. */
const partsOf = (secret: string): string[] => secret.split(/[[\]]/).filter(Boolean);

describe('a message of the upstream', () => {
  test.each(SECRET)('never shows %s', (secret) => {
    for (const around of [
      `temperature must be below 2, got 3.5 (${secret}); the input is too long for the model`,
      `This model's maximum context length is 8192 tokens: ${secret}`,
      `{'message': '${secret}', 'type': 'invalid'}`,
      `max_tokens=${secret} is not a valid number for the model`,
      `Error at ${secret}: failed`,
      secret,
    ]) {
      const clean = cleanMessage(around) ?? '';
      for (const part of partsOf(secret)) expect(clean.toLowerCase()).not.toContain(part.toLowerCase());
    }
  });

  test.each(KNOWN_REFUSALS.map((refusal) => [refusal]))('keeps what nodes say: %s', (refusal) => {
    expect(cleanMessage(refusal)).toBe(refusal.length > 500 ? `${refusal.slice(0, 499)}…` : refusal);
  });

  test.each([
    [
      'other numbers',
      "This model's maximum context length is 131072 tokens. However, you requested 9 tokens.",
    ],
    ['a path', 'messages.0.content: Input should be a valid string'],
    ['an index', "Invalid 'messages[0].content[1].image_url.url' with 400"],
    ['a public name', 'The model `gateway/qwen-fast` does not support tools.'],
  ])('keeps what helps: %s', (_what, message) => expect(cleanMessage(message)).toBe(message));

  test('hides what it does not know, and says nothing where that is most of it', () => {
    expect(cleanMessage('temperature must be below 2 (http://10.9.8.7:8000)')).toBe(
      'temperature must be below 2 ([…])',
    );
    expect(cleanMessage('CUDA out of memory on worker7')).toBeUndefined();
    expect(cleanMessage('')).toBeUndefined();
    expect(cleanMessage('… --- …')).toBeDefined();
  });

  test('may be cleaned a second time', () => {
    const once = cleanMessage('top_p must be in (0, 1], got NaN at gpu-7.eu.acme.cloud.');
    expect(once).toBe('top_p must be in (0, 1], got NaN at […].');
    expect(cleanMessage(once!)).toBe(once);
  });

  test('has the public name of the model in place of its own', () => {
    const renamed = { from: 'qwen3:8b', to: 'gateway/fast' };
    expect(cleanMessage('The model "qwen3:8b" does not support tools; not qwen3:8b-node', renamed)).toBe(
      'The model "gateway/fast" does not support tools; not […]',
    );
  });

  test("names the simulator's controls", () => {
    const message = `unknown simulator control x; known are ${CONTROL_NAMES.join(', ')}`;
    expect(cleanMessage(message)).toBe(message);
  });

  test('is bounded and free of control characters', () => {
    expect(cleanMessage('must '.repeat(10_000))!.length).toBeLessThanOrEqual(500);
    expect(cleanMessage('must\u0000be\r\nan\u202earray')).toBe('must be an array');
  });
});

/** Paths that no request has. Several indices in a row may be an address. */
const ODD_PATHS = [
  ...['messages.10.0.0.5', 'messages[10][0][0][5]', 'messages[0][1].content', 'messages[0].1.content'],
  ...['messages[0', 'messages0]', 'messages]]', 'messages[].content', 'messages[a]', 'messages[[0]]'],
  ...[
    'messages..content',
    'messages.',
    '.messages',
    '[0].messages',
    'messages.content[12345]',
    'messages[0]content',
  ],
  ...['messages.0content', 'messages.content:8000', 'messages-content'],
];

const NAMES = ['messages', 'content', 'tools', 'function', 'name', 'acme', 'node'];
/** The grammar once more, said as a list of steps. */
const path = fc.array(
  fc.record({
    name: fc.constantFrom(...NAMES),
    index: fc.constantFrom('', '.0', '[7]', '[0][1]', '.1.2', '[1].2', '[12345]', '[', ']', '[]'),
  }),
  { minLength: 1, maxLength: 4 },
);

describe('the name of a field', () => {
  test('is known exactly where its names are, each with one index at most', () => {
    fc.assert(
      fc.property(path, (steps) => {
        const known = steps.every(
          ({ name, index }) => !['acme', 'node'].includes(name) && ['', '.0', '[7]'].includes(index),
        );
        expect(isKnownField(steps.map(({ name, index }) => name + index).join('.'))).toBe(known);
      }),
      { numRuns: 1_000 },
    );
  });

  test.each([
    'n',
    'messages',
    'messages.0.content',
    'tools[0].function.name',
    'stream_options.include_usage',
    'messages[0].content[12].image_url.url',
    'messages.0.content.1.text',
  ])('is known: %s', (name) => expect(isKnownField(name)).toBe(true));

  test.each(['gpu-7.eu.acme.cloud', 'None', '10.0.0.5', 'messages.acme', '', '.'.repeat(200), ...ODD_PATHS])(
    'is none: %s',
    (name) => expect(isKnownField(name)).toBe(false),
  );
});
