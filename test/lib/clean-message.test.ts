import { cleanMessage } from '../../src/lib/clean-message.js';

const CANARIES = [
  'http://10.0.0.5:8000/v1/chat',
  'https://node-7.internal.example.com/v1?key=1',
  '10.0.0.5',
  '10.0.0.5:8000',
  'node-7.gpu.svc.cluster.local:8000',
  'gpu-node-3.internal',
  'localhost:11434',
  'localhost',
  '[fe80::1ff:fe23:4567:890a]:8000',
  '2001:db8::8a2e:370:7334',
  'postgresql://user:pass@db:5432/x',
  'sk-1234567890abcdef',
  'hf_abcdefghijklmnop',
  'Bearer abc.def.ghi',
  '/usr/local/lib/python3.11/site-packages/vllm/engine.py',
  '/root/.cache/huggingface/model.bin',
  'C:\\models\\qwen.gguf',
];

describe('a message of the upstream', () => {
  test.each(CANARIES)('never shows %s', (canary) => {
    for (const around of [
      `Error at ${canary}: failed`,
      `${canary}`,
      `{'host': '${canary}', 'x': 1}`,
      `(${canary})`,
    ]) {
      expect(cleanMessage(around)).not.toContain(canary);
    }
  });

  test.each([
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
    'temperature must be between 0 and 2, got 3.5',
    'Invalid value for "tools[0].function.name": a-z, A-Z, 0-9',
    'Ratio 1:2 is not supported; see response_format: json_schema',
  ])('keeps what helps: %s', (message) => expect(cleanMessage(message)).toBe(message));

  test('is bounded and free of control characters', () => {
    expect(cleanMessage('x'.repeat(10_000)).length).toBeLessThanOrEqual(500);
    expect(cleanMessage('a\u0000b\r\nc\u202ed')).toBe('a b c d');
  });
});
