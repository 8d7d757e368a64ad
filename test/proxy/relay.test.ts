import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';
import { soonerThan } from '../support/sooner-than.js';
import { until } from '../support/until.js';
import { ask, chunksOf, newKey, post, textOf } from './support.js';

interface Chat {
  model: string;
  system_fingerprint: string;
  choices: { message: { content: string }; finish_reason: string }[];
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
}

describe('the model proxy', () => {
  let db: TestDatabase;
  let proxy: TestProxy;
  let key: string;
  const chat = (body: unknown) => post(`${proxy.url}/v1/chat/completions`, key, body);

  beforeAll(async () => {
    db = await createTestDatabase();
    proxy = await startTestProxy(db);
    key = await newKey(proxy);
  });
  afterAll(async () => {
    await proxy.close();
    await db.close();
  });

  test('answers a chat call under the public name', async () => {
    const response = await chat(ask('Tell me about lighthouses'));
    expect(response.status).toBe(200);
    const body = (await response.json()) as Chat;
    expect(body.model).toBe('gateway/fast');
    expect(body.system_fingerprint).toMatch(/^simulator-/);
    expect(body.choices[0]?.message.content).toContain('lighthouses');
    expect(body.usage.total_tokens).toBe(body.usage.prompt_tokens + body.usage.completion_tokens);
  });

  test('streams the same text under the public name', async () => {
    const whole = (await (await chat(ask('Tell me about lighthouses'))).json()) as Chat;
    const response = await chat(ask('Tell me about lighthouses', { stream: true }));
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const text = await response.text();
    const chunks = chunksOf(text);
    expect(new Set(chunks.map((chunk) => chunk.model))).toEqual(new Set(['gateway/fast']));
    expect(textOf(chunks)).toBe(whole.choices[0]?.message.content);
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(text).not.toContain('gemma');
  });

  test('lists the models and says that they are simulated', async () => {
    const response = await fetch(`${proxy.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    const { data } = (await response.json()) as { data: { id: string; owned_by: string }[] };
    expect(data.map(({ id }) => id)).toEqual([
      'gateway/fast',
      'gateway/qwen-fast',
      'gateway/qwen-pro',
      'gateway/deepseek-code',
      'gateway/deepseek-reason',
      'gateway/embed',
    ]);
    expect(new Set(data.map((model) => model.owned_by))).toEqual(new Set(['simulator']));
  });

  test('ends its call to the node at once when the client leaves', async () => {
    const leaving = new AbortController();
    const before = proxy.simulator.stats();
    const response = await fetch(`${proxy.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(ask('[[sim words=500 chunk_ms=20]] go on', { stream: true })),
      signal: leaving.signal,
    });
    await response.body!.getReader().read();
    expect(proxy.simulator.stats().running).toBe(before.running + 1);
    leaving.abort();
    await soonerThan(
      1_000,
      () => proxy.simulator.stats().abandoned === before.abandoned + 1,
      'the node is left',
    );
  });

  test('ends its call to the node when the client of a whole answer leaves', async () => {
    const before = proxy.simulator.stats();
    const leaving = new AbortController();
    const call = fetch(`${proxy.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(ask('[[sim delay_ms=20000]] slow')),
      signal: leaving.signal,
    });
    await until(() => proxy.simulator.stats().running === before.running + 1);
    leaving.abort();
    await expect(call).rejects.toThrow();
    await soonerThan(
      1_000,
      () => proxy.simulator.stats().abandoned === before.abandoned + 1,
      'the node is left',
    );
  });

  test('breaks the stream when the node does', async () => {
    const response = await chat(ask('[[sim abort_after=3]] go on', { stream: true }));
    expect(response.status).toBe(200);
    let text = '';
    const read = async () => {
      for await (const part of response.body!) text += Buffer.from(part).toString();
    };
    await expect(read()).rejects.toThrow();
    expect(chunksOf(text).filter((chunk) => chunk.choices[0]?.delta.content)).toHaveLength(3);
    expect(text).not.toContain('[DONE]');
  });

  test('pauses the node while the client does not read, and loses nothing', async () => {
    const long = () => chat(ask('[[sim words=60000 ttft_ms=0 chunk_ms=0]] long', { stream: true }));
    const before = proxy.simulator.stats().running;
    const response = await long();
    const reader = response.body!.getReader();
    let bytes = (await reader.read()).value!.length;
    // Two more of the same length come and go meanwhile: without a pause the first would have ended as well.
    const whole = (await (await long()).text()).length;
    expect((await (await long()).text()).length).toBe(whole);
    expect(proxy.simulator.stats().running).toBe(before + 1);
    for (let part = await reader.read(); !part.done; part = await reader.read()) bytes += part.value.length;
    expect(bytes).toBe(whole);
    await until(() => proxy.simulator.stats().running === before);
  });
});
