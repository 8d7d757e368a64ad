import {
  createMessageMask,
  GENERAL_MASK,
  MAX_ERROR_CHARACTERS,
  maskedParam,
} from '../../src/lib/message-mask.js';
import { CONTROL_NAMES } from '../../src/proxy/simulator/controls.js';
import fc from '../support/fast-check.js';

const mask = createMessageMask({
  addresses: [
    'http://gpu-7.eu.acme.cloud:8123/pool-a/v1',
    'http://worker7:9000/v1',
    'https://[fd00::77]:8443/v1',
    'http://vllm.acme.site.:8000/v1',
    'http://günther.de',
    'not an address',
  ],
  keys: ['correcthorse', 'Zm9vYmFyYmF6cXV4', 'Kx&"9-7f', 'EMPTY'],
  names: ['acme/llama-3-70b-internal', 'dep-fast-1', 'basic', 'model'],
});

const HIDDEN = [
  'http://10.0.0.5:8000/v1/chat',
  'https://node-7.internal.example.com/v1?key=1',
  'HTTP://[fe80::1]:8000/v1',
  '10.0.0.5',
  '10.0.0.5:8000',
  '192.168.1.77/health',
  'node-7.gpu.svc.cluster.local:8000',
  'vllm-0.vllm.svc',
  'gpu-7.eu.acme.cloud',
  'GPU-7.EU.ACME.CLOUD:443',
  'gpu-8.eu.acme.cloud',
  'gpu-7',
  'worker7',
  'worker7:9000',
  '/pool-a/v1/chat/completions',
  'unix:/run/vllm.sock',
  '/run/vllm.sock',
  'localhost:11434',
  '[fe80::1ff:fe23:4567:890a]:8000',
  '2001:db8::8a2e:370:7334',
  '[::1]:8000',
  '::ffff:10.1.2.3',
  'postgresql://user:pass@db:5432/x',
  'sk-1234567890abcdef',
  'hf_abcdefghijklmnop',
  'Zm9vYmFyYmF6cXV4',
  'correcthorse',
  '/usr/local/lib/python3.11/site-packages/vllm/engine.py',
  '/root/.cache/huggingface/model.bin',
  'C:\\models\\qwen.gguf',
  'acme/llama-3-70b-internal',
  'llama-3-70b-internal',
  'dep-fast-1',
  'vllm.acme.site',
  'günther.de',
  'xn--gnther-3ya.de',
  'ip-10-0-0-5',
  'worker12:29500',
  'Kx&"9-7f',
  'http://svc:Pa,ssw0rd@squid-1:3128',
  '/vllm-workspace/model.bin',
];
const AROUND = [
  (secret: string) => `temperature must be below 2, got 3.5 (${secret}); the input is too long`,
  (secret: string) => `This model's maximum context length is 8192 tokens: ${secret}`,
  (secret: string) => `{'message': '${secret}', 'type': 'invalid'}`,
  (secret: string) => `max_tokens=${secret} is not a valid number`,
  (secret: string) => `Fehler bei ${secret}: abgebrochen。${secret}`,
  (secret: string) => `\`${secret}\`, "${secret}" <${secret}>`,
  (secret: string) => `two lines:\\n${secret}\\nand\\t${secret}`,
  (secret: string) => `two lines:\n${secret}\nand\t${secret}`,
  (secret: string) => `split​ ${secret}​ by what isn't seen`,
  (secret: string) => `İİ ${secret}`,
  (secret: string) => secret,
];

describe('a message of a node', () => {
  test.each(HIDDEN)('never shows %s', (secret) => {
    const parts = secret.split(/[[\]]/).filter((part) => part.length > 2 && !/^:\d+$/.test(part));
    for (const around of AROUND) {
      const shown = mask(around(secret)).toLowerCase();
      for (const part of parts) expect(shown).not.toContain(part.toLowerCase());
    }
  });

  test.each([
    "HTTPConnectionPool(host='worker7', port=9000): Max retries exceeded",
    'connect to port 9000 failed',
    'listening at :9000',
    'Authorization: Bearer abc',
    'mask.invalid.example:8123 is taken',
    `"Bearer": "abc"`,
    "Connect call failed ('10.0.0.5', 8123)",
    'port is 9000',
    'http%3A%2F%2Fworker7%3A9000 is down',
    'http:\\/\\/worker7:9000 is down',
    'worker\u200b7:9000 is down',
    'api_key=abc is wrong',
  ])('hides hosts, ports and tokens in: %s', (message) => {
    expect(mask(message)).toContain('[…]');
    expect(mask(message)).not.toMatch(/worker7|\b9000\b|\babc\b|8123/);
  });

  test.each([
    "This model's maximum context length is 9000 tokens. However, you requested 9007 tokens: exceeded by 7 tokens.",
    "Invalid schema for function 'get_weather': 'strng' is not valid under any of the given schemas",
    'Die maximale Kontextlänge von 8192 Token wurde um 7 überschritten.',
    '超出模型的最大上下文长度：请求了 9000 个 token。',
    'max_tokens:9000 is too large; "max_tokens":9000, messages.0.content[1].image_url.url',
    'The model `gateway/qwen-fast` does not support tools; std::vector, Foo::bar, 12:30:45, ratio 3:4, EMPTY.',
    "1 validation error: ('body', 'messages', 0, 'content'): Input should be a valid string at /messages/0/content",
    'version 0.6.3.post1 of qwen3:8b and llama3.1:70b; top_p must be in (0, 1], got 2.0.',
    `unknown simulator control x; known are ${CONTROL_NAMES.join(', ')}`,
    '\\u00e9 \\n 50 % <tool_call> {"a": [1, 2]} ¿qué?',
    'Only basic math is supported by this model; hf_overrides is not known',
    'Basic authentication is required, or the header is missing.',
  ])('passes unchanged: %s', (message) => expect(mask(message)).toBe(message));

  test("contains the model's public name in place of the node's name", () => {
    const renamed = { from: 'qwen3:8b', to: 'gateway/fast' };
    expect(mask('"qwen3:8b" has no tools; qwen3:8b. not qwen3:8b-node', renamed)).toBe(
      '"gateway/fast" has no tools; gateway/fast. not qwen3:8b-node',
    );
  });

  test("keeps the node's name of the model if that is a plain word, unless it is quoted", () => {
    const renamed = { from: 'model', to: 'gateway/pro' };
    expect(mask('This model has no tools: "model" is too small', renamed)).toBe(
      'This model has no tools: "gateway/pro" is too small',
    );
  });

  test('ends before a truncated secret', () => {
    for (let length = 3_900; length < 4_000; length += 3)
      expect(mask(`see https://a.example/${'x'.repeat(length)} at correcthorse-battery`)).not.toMatch(/corr/);
  });

  test("isn't changed by a second mask", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom(...HIDDEN)), { maxLength: 20 }), (parts) => {
        const once = mask(parts.join(' '));
        expect(mask(once)).toBe(once);
      }),
    );
  });

  test('is empty if only punctuation is left', () => {
    expect(mask('http://10.0.0.5:8000/v1: (worker7)')).toBe('');
    expect(mask('')).toBe('');
  });

  test.each(['n', 'messages', 'messages.0.content', 'tools[0].function.name', 'metadata.user-id'])(
    'may name the member %s',
    (param) => expect(maskedParam(param, mask)).toBe(param),
  );

  test.each([
    'messages.10.0.0.5',
    'messages[10][0][0][5]',
    'worker7',
    'gpu-7.eu.acme.cloud',
    'a b',
    '',
    7,
    null,
  ])('must not name the member %p', (param) => expect(maskedParam(param, mask)).toBeUndefined());

  test('hides hosts and addresses that no routing file names', () => {
    expect(
      GENERAL_MASK('out of memory on gpu-7.eu.acme.cloud (10.1.2.3:8000), see https://x.example/y'),
    ).toBe('out of memory on […] ([…]), see […]');
  });

  test('is limited in length, on one line and without control characters', () => {
    expect(mask('must '.repeat(100_000))).toHaveLength(MAX_ERROR_CHARACTERS);
    expect(mask('must\u0000be\r\nan\u2028ar\u202eray')).toBe('must be an array');
  });

  test.each(['a.', 'a-', ':', '1.', '/a', 'a:', 'http', '[', 'gpu-7.'])(
    'is read in linear time if it repeats %s',
    (piece) => {
      const started = process.cpuUsage();
      mask(piece.repeat(100_000));
      expect(process.cpuUsage(started).user).toBeLessThan(50_000);
    },
  );
});
