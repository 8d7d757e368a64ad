import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { systemClock } from '../../src/lib/clock.js';
import { CONTROL_NAMES } from '../../src/proxy/simulator/controls.js';
import { type Simulator, startSimulator } from '../../src/proxy/simulator/server.js';
import { ownTime } from '../support/own-time.js';
import { until } from '../support/until.js';
import { chunksOf, post, textOf } from './support.js';

const FAST = 'ttft_ms=0 chunk_ms=0';

interface Chat {
  choices: { message: { content: string } }[];
  usage?: Record<string, unknown>;
}

describe('a control in the last user message', () => {
  let simulator: Simulator;
  beforeAll(async () => {
    simulator = await startSimulator({ clock: systemClock, models: [] });
  });
  afterAll(() => simulator.close());

  const ask = (controls: string, rest: Record<string, unknown> = {}) =>
    post(`${simulator.url}/chat/completions`, 'any', {
      model: 'gemma-3-4b',
      messages: [{ role: 'user', content: `[[sim ${FAST} ${controls}]] boats` }],
      ...rest,
    });
  const stream = (controls: string, rest: Record<string, unknown> = {}) =>
    ask(controls, { stream: true, stream_options: { include_usage: true }, ...rest });
  const embed = (input: unknown) =>
    post(`${simulator.url}/embeddings`, 'any', { model: 'nomic-embed-text', input });
  const tokensIn = (text: string) => chunksOf(text).filter((chunk) => chunk.choices[0]?.delta.content).length;
  const elapsed = async (work: () => Promise<unknown>) => {
    const start = performance.now();
    await work();
    return performance.now() - start;
  };

  test('is not echoed, and earlier messages have none', async () => {
    const body = (await (await ask('words=12')).json()) as Chat;
    expect(body.choices[0]?.message.content).not.toContain('[[');
    const earlier = await post(`${simulator.url}/chat/completions`, 'any', {
      model: 'gemma-3-4b',
      messages: [
        { role: 'user', content: '[[sim status=503]]' },
        { role: 'user', content: 'now in earnest' },
      ],
    });
    expect(earlier.status).toBe(200);
  });

  test.each([
    'nonsense=1',
    'status=abc',
    'status=99',
    'usage=maybe',
    'tokens=5',
    'words=-1',
    'garbage=yes',
    '__proto__=1',
  ])('that is unknown or malformed gets 400 with the allowed values: %s', async (control) => {
    const response = await ask(control);
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { message: string } };
    if (/^(?:nonsense|__proto__)/.test(control)) {
      for (const name of CONTROL_NAMES) expect(error.message).toContain(name);
    } else expect(error.message).toMatch(/takes/);
  });

  test('is in the table of docs/simulator.md', () => {
    const text = readFileSync(resolve('docs/simulator.md'), 'utf8');
    const documented = [...text.matchAll(/^\| `(\w+)=/gm)].map((match) => match[1]);
    expect(documented.sort()).toEqual([...CONTROL_NAMES].sort());
  });

  test('delay_ms, ttft_ms and chunk_ms slow it down', async () => {
    expect(await elapsed(() => ask('delay_ms=150'))).toBeGreaterThan(145);
    expect(await elapsed(() => ask('ttft_ms=150'))).toBeGreaterThan(145);
    const slow = async () => (await stream('words=10 chunk_ms=15')).text();
    expect(await elapsed(slow)).toBeGreaterThan(130);
    expect(await elapsed(() => embed('[[sim delay_ms=150]] x'))).toBeGreaterThan(145);
  });

  test.each([400, 401, 404, 429, 500, 503])('status=%i answers that, with retry_after', async (status) => {
    for (const response of [
      await ask(`status=${status} retry_after=9`),
      await stream(`status=${status} retry_after=9`),
      await embed(`[[sim status=${status} retry_after=9]]`),
    ]) {
      expect(response.status).toBe(status);
      expect(response.headers.get('retry-after')).toBe('9');
      expect(await response.json()).toMatchObject({
        error: { message: expect.stringContaining(`${status}`) },
      });
    }
  });

  test('words=N sets the length', async () => {
    for (const words of [0, 1, 17, 300]) {
      const body = (await (await ask(`words=${words}`)).json()) as Chat;
      expect(body.choices[0]?.message.content.split(' ').filter(Boolean)).toHaveLength(words);
    }
  });

  test.each([0, 1, 5])('abort_after=%i resets the stream after that many tokens', async (count) => {
    const response = await stream(`abort_after=${count}`);
    let text = '';
    const read = async () => {
      for await (const part of response.body!) text += Buffer.from(part).toString();
    };
    await expect(read()).rejects.toThrow();
    expect(tokensIn(text)).toBe(count);
    await expect((await ask(`abort_after=${count}`)).text()).rejects.toThrow();
  });

  test('stall_after=N stops sending and stays open', async () => {
    const leaving = new AbortController();
    const response = await fetch(`${simulator.url}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({
        model: 'm',
        stream: true,
        messages: [{ role: 'user', content: `[[sim ${FAST} stall_after=2]]` }],
      }),
      signal: leaving.signal,
    });
    const reader = response.body!.getReader();
    let text = '';
    while (tokensIn(text) < 2) text += Buffer.from((await reader.read()).value!).toString();
    const more = reader.read().then(
      () => 'more',
      () => 'left',
    );
    const { abandoned } = simulator.stats();
    leaving.abort();
    expect(await more).toBe('left');
    await until(() => simulator.stats().abandoned === abandoned + 1);
  });

  test('tokens=12/34 reports those', async () => {
    const usage = { prompt_tokens: 12, completion_tokens: 34, total_tokens: 46 };
    expect(((await (await ask('tokens=12/34')).json()) as Chat).usage).toEqual(usage);
    expect(chunksOf(await (await stream('tokens=12/34')).text()).at(-1)?.usage).toEqual(usage);
    expect(((await (await embed('[[sim tokens=12/0]] x')).json()) as Chat).usage).toEqual({
      prompt_tokens: 12,
      total_tokens: 12,
    });
  });

  test.each([
    ['zero', '"completion_tokens":0,'],
    ['negative', '"completion_tokens":-35,'],
    ['nan', '"completion_tokens":NaN,'],
    ['string', '"completion_tokens":"34",'],
    ['huge', '"completion_tokens":1000000000000000000,'],
  ])('usage=%s reports %s', async (mode, expected) => {
    for (const call of [ask, stream]) {
      const text = await (await call(`tokens=12/34 usage=${mode}`)).text();
      expect(text.split('"usage":').length).toBe(2);
      expect(text).toContain(expected);
    }
  });

  test('usage=none, continuous and with_choices omit or move the usage', async () => {
    expect(await (await ask('usage=none')).text()).not.toContain('usage');
    expect(await (await stream('usage=none')).text()).not.toContain('usage');
    const running = chunksOf(await (await stream('words=4 usage=continuous')).text());
    const counts = running.map((chunk) => chunk.usage?.completion_tokens as number);
    expect(counts).toEqual([...counts].sort((left, right) => left - right));
    expect(counts[0]).toBe(0);
    expect(counts.every((count) => count !== undefined)).toBe(true);
    const within = chunksOf(await (await stream('tokens=1/2 usage=with_choices')).text());
    expect(within.every((chunk) => chunk.choices.length > 0)).toBe(true);
    expect(within.at(-1)?.usage).toEqual({ prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 });
  });

  test('error_first=1 begins the stream with an error that carries the status', async () => {
    const response = await stream('error_first=1 status=429');
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text.startsWith('data: {"error":')).toBe(true);
    expect(JSON.parse(text.slice(6))).toMatchObject({ error: { code: 429 } });
    expect((await ask('error_first=1')).status).toBe(503);
  });

  test('garbage=1, truncate=1, no_done=1 and content_type spoil the answer', async () => {
    const garbage = await ask('garbage=1');
    expect(garbage.status).toBe(200);
    const spoilt = await garbage.text();
    expect(() => JSON.parse(spoilt)).toThrow();
    const cut = await (await ask('truncate=1')).text();
    expect(cut.startsWith('{"id"')).toBe(true);
    expect(() => JSON.parse(cut)).toThrow();
    const cutStream = await (await stream('truncate=1')).text();
    expect(() => chunksOf(cutStream)).toThrow();
    expect(cutStream).not.toContain('[DONE]');
    const open = await (await stream('no_done=1')).text();
    expect(open).not.toContain('[DONE]');
    expect(chunksOf(open).length).toBeGreaterThan(5);
    expect((await ask('content_type=text/html')).headers.get('content-type')).toBe('text/html');
  });

  test('encoding overrides the requested format', async () => {
    const forms = async (control: string, format: string) => {
      const response = await post(`${simulator.url}/embeddings`, 'any', {
        model: 'nomic-embed-text',
        input: `[[sim encoding=${control}]] x`,
        encoding_format: format,
      });
      const { data } = (await response.json()) as { data: { embedding: unknown }[] };
      return typeof data[0]?.embedding;
    };
    expect(await forms('base64', 'float')).toBe('string');
    expect(await forms('float', 'base64')).toBe('object');
  });

  test("echo_canary=1 reveals the node's address", async () => {
    const answer = await ask('echo_canary=1');
    expect(answer.headers.get('x-sim-canary')).toBe(simulator.url);
    expect(await (await ask('echo_canary=1 status=400')).text()).toContain('sim-canary.internal');
  });

  test('leaves the text whole and readable if no control is given', async () => {
    const response = await post(`${simulator.url}/chat/completions`, 'any', {
      model: 'm',
      stream: true,
      messages: [{ role: 'user', content: 'How do lighthouses warn ships?' }],
    });
    const time = ownTime();
    const start = time.now();
    const text = textOf(chunksOf(await response.text()));
    const tookMs = time.now() - start;
    time.stop();
    expect(tookMs).toBeLessThan(2_000);
    expect(text).toMatch(/simulated/i);
    expect(text).toMatch(/lighthouses/);
  });
});
