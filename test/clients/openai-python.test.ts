import { curl } from './curl.js';
import { FAST, useClients } from './support.js';

const suite = useClients();

/** Recorded from openai-python 3.22.1 on CPython 3.11.7, in its order; key and length are curl's to fill in. */
const RECORDED = [
  'Accept-Encoding: gzip, deflate',
  'Connection: keep-alive',
  'accept: application/json',
  'content-type: application/json',
  'user-agent: OpenAI/Python 3.22.1',
  'x-stainless-lang: python',
  'x-stainless-package-version: 3.22.1',
  'x-stainless-os: Linux',
  'x-stainless-arch: x64',
  'x-stainless-runtime: CPython',
  'x-stainless-runtime-version: 3.11.7',
  'x-stainless-async: false',
  'x-stainless-retry-count: 0',
  'x-stainless-read-timeout: 600',
];

function replay(path: string, body: unknown, more: string[] = []) {
  const headers = [...RECORDED, ...more, `authorization: Bearer ${suite.user.key}`];
  return curl([
    '-i',
    ...headers.flatMap((header) => ['-H', header]),
    ...(body === undefined ? [] : ['--data-binary', JSON.stringify(body)]),
    `${suite.baseUrl}${path}`,
  ]);
}

const messages = [{ role: 'user', content: `${FAST} Hello from Python` }];

function parts(answer: string): { head: string; body: string } {
  const at = answer.indexOf('\r\n\r\n');
  return { head: answer.slice(0, at).toLowerCase(), body: answer.slice(at + 4) };
}

describe('openai-python, its recorded headers', () => {
  test('chat is answered in plain JSON, since the gateway compresses nothing', async () => {
    const { head, body } = parts(
      (await replay('/chat/completions', { messages, model: 'gateway/fast' })).stdout,
    );
    expect(head).toMatch(/^http\/1\.1 200/);
    expect(head).not.toContain('content-encoding');
    expect(JSON.parse(body)).toMatchObject({ object: 'chat.completion', model: 'gateway/fast' });
  });

  test('its stream helper accepts application/json and still gets events', async () => {
    const asked = { messages, model: 'gateway/fast', stream: true };
    const helper = ['x-stainless-helper-method: chat.completions.stream'];
    const { head, body } = parts((await replay('/chat/completions', asked, helper)).stdout);
    expect(head).toContain('content-type: text/event-stream');
    expect(body.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  test('embeddings are answered in base64, as requested', async () => {
    const asked = { input: 'x', model: 'gateway/embed', encoding_format: 'base64' };
    const { body } = parts((await replay('/embeddings', asked)).stdout);
    const { data } = JSON.parse(body) as { data: { embedding: string }[] };
    expect(Buffer.from(data[0]!.embedding, 'base64')).toHaveLength(768 * 4);
  });

  test('the async client and models.list work', async () => {
    const { head, body } = parts(
      (await replay('/models', undefined, ['x-stainless-async: async:asyncio'])).stdout,
    );
    expect(head).toMatch(/^http\/1\.1 200/);
    expect((JSON.parse(body) as { data: unknown[] }).data).toHaveLength(6);
  });
});
