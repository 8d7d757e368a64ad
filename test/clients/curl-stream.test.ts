import { curl } from './curl.js';
import { useClients } from './support.js';

const suite = useClients();

const streamArgs = (fields: Record<string, unknown> = {}): string[] => [
  '-N',
  `${suite.baseUrl}/chat/completions`,
  '-H',
  `Authorization: Bearer ${suite.user.key}`,
  '-H',
  'Content-Type: application/json',
  '-d',
  JSON.stringify({
    model: 'gateway/fast',
    stream: true,
    messages: [{ role: 'user', content: '[[sim ttft_ms=1 chunk_ms=1 words=5]] Read by eye' }],
    ...fields,
  }),
];

describe('curl: a stream', () => {
  test('is lines of data, an empty line after each, and [DONE] at the end', async () => {
    const { code, stdout } = await curl(['-i', ...streamArgs()]);
    expect(code).toBe(0);
    const [head, body] = stdout.split('\r\n\r\n', 2);
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(head!.toLowerCase()).toContain('content-type: text/event-stream; charset=utf-8');
    expect(head!.toLowerCase()).toContain('cache-control: no-store');
    expect(head).toMatch(/x-request-id: [0-9a-f-]{36}/i);
    expect(body).not.toContain('\r');
    expect(body!.endsWith('\n\n')).toBe(true);
    const events = body!.slice(0, -2).split('\n\n');
    expect(events.at(-1)).toBe('data: [DONE]');
    for (const event of events.slice(0, -1)) {
      expect(event).toMatch(/^data: \{[^\n]*\}$/);
      expect(JSON.parse(event.slice('data: '.length))).toMatchObject({
        object: 'chat.completion.chunk',
        model: 'gateway/fast',
        choices: [{ index: 0 }],
      });
    }
  });

  test('has the usage chunk if it is requested', async () => {
    const { stdout } = await curl(streamArgs({ stream_options: { include_usage: true } }));
    const events = stdout.trim().split('\n\n');
    expect(JSON.parse(events.at(-2)!.slice('data: '.length))).toMatchObject({
      choices: [],
      usage: { completion_tokens: expect.any(Number) },
    });
  });

  test('ends with an error event and no [DONE] when the node breaks off', async () => {
    const messages = [{ role: 'user', content: '[[sim ttft_ms=1 chunk_ms=1 abort_after=2]] Breaks' }];
    const { code, stdout } = await curl(streamArgs({ messages }));
    expect(code).toBe(0);
    expect(stdout).not.toContain('[DONE]');
    const last = stdout.trim().split('\n\n').at(-1)!;
    expect(JSON.parse(last.slice('data: '.length))).toMatchObject({ error: { code: 'upstream_error' } });
  });
});
