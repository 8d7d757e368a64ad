import { createTestKey, errorOf, postChat, usageOf } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import {
  chat,
  chunkEvent,
  DONE_EVENT,
  delta,
  raw,
  stream,
  usageEvent,
} from '../support/scripted-upstream.js';

/** Requirement R12: what is the upstream's own business never reaches a caller. */
const SECRET = '10.20.30.40';
const INTERNAL = 'gemma-3-4b-it-q4';
const OWN = {
  kv_transfer_params: { remote_host: SECRET },
  provider: SECRET,
  nvext: { worker_id: SECRET },
  __verbose: { prompt: SECRET },
};
const KNOWN = { service_tier: null, system_fingerprint: 'fp', prompt_logprobs: [null], timings: { n: 1.5 } };

describe('what an upstream reveals about itself', () => {
  const suite = useEdge();

  /** The answer as the client has it; nothing of the upstream's own is in it. */
  async function clean(response: Response): Promise<string> {
    const text = await response.text();
    const shown = JSON.stringify([...response.headers]) + text;
    expect([SECRET, INTERNAL].filter((secret) => shown.includes(secret))).toEqual([]);
    return text;
  }
  const streamed = async (...parts: string[]): Promise<string> => {
    const { key } = await createTestKey(suite.db);
    suite.upstream.answer(stream([...parts, DONE_EVENT]));
    return clean(await postChat(suite.edge.url, key, { stream: true }));
  };
  const whole = async (body: string): Promise<Record<string, unknown>> => {
    const { key } = await createTestKey(suite.db);
    suite.upstream.answer(raw(200, body));
    return JSON.parse(await clean(await postChat(suite.edge.url, key)));
  };
  const wholeOf = async (fields: object): Promise<string> => {
    const { key } = await createTestKey(suite.db);
    suite.upstream.answer(chat({ ...fields }));
    return clean(await postChat(suite.edge.url, key));
  };
  // biome-ignore lint/suspicious/noExplicitAny: chunks of any form
  const dataOf = (text: string): any[] =>
    [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json!));
  const droppedParts = async (kind: string): Promise<number> => {
    const metric = suite.edge.registry.getSingleMetric('gateway_dropped_answer_parts_total')!;
    const { values } = await metric.get();
    return values.filter(({ labels }) => labels.kind === kind).reduce((sum, { value }) => sum + value, 0);
  };

  test('stays out of a whole answer, which keeps what SDKs know, and is counted', async () => {
    const { key } = await createTestKey(suite.db);
    const before = await droppedParts('member');
    suite.upstream.answer(chat({ ...OWN, ...KNOWN }));
    const answer = JSON.parse(await clean(await postChat(suite.edge.url, key)));
    expect(answer).toMatchObject({ ...KNOWN, id: 'chatcmpl-1', model: 'gateway/fast' });
    expect((await droppedParts('member')) - before).toBe(4);
  });

  test('stays out of every chunk of a stream, and so do comments and lines that are no data', async () => {
    const before = [await droppedParts('member'), await droppedParts('line')] as const;
    const chunk = (content: string, more: object) =>
      chunkEvent({ choices: [{ index: 0, delta: { content }, finish_reason: null }], ...more });
    const text = await streamed(
      `: served by ${SECRET}\n\n`,
      `id: ${SECRET}\nretry: 5\nevent: ${SECRET}\n: ${SECRET}\n${chunk('a', {})}`,
      chunk('b', { ...OWN, ...KNOWN }),
      chunk('c', { ...OWN, ...KNOWN }),
      `id: ${SECRET}\n\n`,
      chunk('d', {}).replace('data: ', `\ufeffdata: `),
    );
    expect(text).toBe(
      [':\n\n', chunk('a', {}), chunk('b', KNOWN), chunk('c', KNOWN), chunk('d', {}), DONE_EVENT].join(''),
    );
    expect(await droppedParts('member')).toBe(before[0] + 8);
    expect(await droppedParts('line')).toBe(before[1] + 4);
  });

  test.each(['\r', '\r\r', 'id: 1\r', ':\r'])(
    'stays out after a line end that only clients recognise (%j)',
    async (hidden) => {
      const honest = chunkEvent({ choices: [{ index: 0, delta: { content: 'a' }, finish_reason: null }] });
      const own = `data: {"model":"${INTERNAL}","choices":[{"delta":{"content":"${SECRET}"}}]}`;
      for (const twice of [honest, `${honest}${honest}`]) {
        const text = await streamed(`${twice.slice(0, -1)}${hidden}${own}\n\n`);
        expect(text).not.toContain('\r');
      }
    },
  );

  test('in a member of its own stays out of later chunks too', async () => {
    const later = delta('b').replace('gateway/fast', INTERNAL);
    const other = delta('c').replace('"gateway/fast"', `{"host":"${SECRET}"}`);
    expect(await streamed(delta('a'), later, later, other)).toBe(
      delta('a') + delta('b') + delta('b') + delta('c') + DONE_EVENT,
    );
  });

  test('stays out where a name occurs twice: the last one counts', async () => {
    const twice = (text: string) => text.replace('"model"', `"model":"${INTERNAL}","mod\\u0065l"`);
    expect(await streamed(twice(delta('a')), twice(delta('b')))).toContain('"content":"b"');
    const choices = '[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}]';
    const answer = `{"id":"${SECRET}","id":"a","model":"${INTERNAL}","choices":"${SECRET}","model":"gateway/fast","choices":${choices}}`;
    expect(await whole(answer)).toEqual({ id: 'a', model: 'gateway/fast', choices: JSON.parse(choices) });
  });

  test('stays out of embeddings', async () => {
    const { key } = await createTestKey(suite.db);
    const data = [{ object: 'embedding', index: 0, embedding: [0.5] }];
    const fields = { object: 'list', model: INTERNAL, data, usage: { prompt_tokens: 3 }, ...OWN };
    suite.upstream.answer(raw(200, JSON.stringify(fields)));
    const response = await fetch(`${suite.edge.url}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'gateway/embed', input: 'x', encoding_format: 'float' }),
    });
    expect(JSON.parse(await clean(response))).toEqual({
      ...{ object: 'list', data, usage: { prompt_tokens: 3 } },
      model: 'gateway/embed',
    });
  });

  test('stays out of the values of known members, whole and streamed', async () => {
    const odd = {
      ...{ id: `chatcmpl-${SECRET}`, object: SECRET, created: SECRET, system_fingerprint: SECRET },
      ...{ service_tier: SECRET, citations: [`http://${SECRET}/doc`], timings: SECRET },
      search_results: [{ title: 'a', url: 'http://wiki.internal/' }],
    };
    const before = await droppedParts('member');
    const answer = JSON.parse(await wholeOf(odd));
    expect(Object.keys(answer)).toEqual(['id', 'object', 'created', 'model', 'choices', 'usage']);
    expect(answer).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-[\da-f-]{36}$/),
      object: 'chat.completion',
      created: expect.any(Number),
    });
    expect(Math.abs(answer.created - Date.now() / 1000)).toBeLessThan(86_400);
    expect((await droppedParts('member')) - before).toBe(8);
    const one = (content: string) =>
      chunkEvent({ choices: [{ index: 0, delta: { content }, finish_reason: null }], ...odd });
    // An address without quotes is a scalar to a scan of the structure.
    const bare = one('c').replace(`"chatcmpl-${SECRET}"`, SECRET).replace(`"${SECRET}"`, SECRET);
    const chunks = dataOf(await streamed(one('a'), one('b'), bare));
    expect(chunks.map(({ choices }) => choices[0].delta.content)).toEqual(['a', 'b', 'c']);
    for (const { id, object, created, choices, ...rest } of chunks) {
      expect({ id, object, created }).toEqual({ ...chunks[0], model: undefined, choices: undefined });
      expect([id, object]).toEqual([
        expect.stringMatching(/^chatcmpl-[\da-f-]{36}$/),
        'chat.completion.chunk',
      ]);
      expect(Object.keys(rest)).toEqual(['model']);
    }
  });

  test('keeps public sources', async () => {
    const sources = {
      citations: ['https://example.com/a', { url: 'http://8.8.8.8/', title: 'b' }],
      search_results: [{ title: 'a', url: 'https://example.com/', date: null }],
    };
    const choices = [{ index: 0, message: { role: 'assistant', content: 'a' } }];
    expect(await whole(JSON.stringify({ choices, ...sources }))).toEqual({ choices, ...sources });
  });

  test('stays out of usage, whose token counts pass and are charged', async () => {
    const counts = {
      ...{ prompt_tokens: 5, completion_tokens: 7, total_tokens: 12, prompt_tokens_details: null },
      completion_tokens_details: { reasoning_tokens: 2, audio_tokens: null },
    };
    const costs = {
      ...{ cost: 0.0123, cost_details: { upstream_inference_cost: 0.01 }, is_byok: false, queue_time: 0.1 },
      ...{ provider: SECRET, region_tokens: SECRET, num_search_queries: 3 },
    };
    const usage = { ...costs, ...counts };
    usage.completion_tokens_details = { ...counts.completion_tokens_details, cost: 1 } as never;
    const { key, accountId } = await createTestKey(suite.db);
    suite.upstream.answer(chat({ usage }));
    expect(JSON.parse(await clean(await postChat(suite.edge.url, key))).usage).toEqual(counts);
    suite.upstream.answer(stream([delta('a'), chunkEvent({ choices: [], usage }), DONE_EVENT]));
    const asked = { stream: true, stream_options: { include_usage: true } };
    const chunks = dataOf(await clean(await postChat(suite.edge.url, key, asked)));
    expect(chunks.at(-1)).toMatchObject({ usage: counts });
    expect(Object.keys(chunks.at(-1)!.usage)).toEqual(Object.keys(counts));
    await suite.edge.settled();
    const rows = await usageOf(suite.db, accountId);
    expect(rows.map(({ input_tokens, output_tokens }) => [input_tokens, output_tokens])).toEqual([
      [5, 7],
      [5, 7],
    ]);
  });

  test('in a choice with an error becomes our own error, and the call is free', async () => {
    const { key, accountId } = await createTestKey(suite.db);
    const error = { code: 502, message: `provider ${SECRET} died` };
    const choices = [{ index: 0, delta: {}, message: { content: 'x' }, finish_reason: 'error', error }];
    suite.upstream.answer(chat({ choices }));
    const answer = await postChat(suite.edge.url, key);
    expect([answer.status, (await errorOf(answer.clone())).code]).toEqual([502, 'upstream_error']);
    await clean(answer);
    suite.upstream.answer(stream([delta('a'), chunkEvent({ choices }), usageEvent(5, 5), DONE_EVENT]));
    const text = await clean(await postChat(suite.edge.url, key, { stream: true }));
    expect(text.startsWith(delta('a'))).toBe(true);
    expect(text).toMatch(/"code":"upstream_error"\}\}\n\n$/);
    suite.upstream.answer(chat({ choices: [{ ...choices[0], error: { ...error, code: 429 } }] }));
    expect((await errorOf(await postChat(suite.edge.url, key))).code).toBe('upstream_unavailable');
    await suite.edge.settled();
    const rows = await usageOf(suite.db, accountId);
    expect(rows.map(({ status, cost }) => [status, cost])).toEqual(
      Array.from({ length: 3 }, () => ['error', '0.000000000000']),
    );
  });

  test.each([null, false, ''])(
    'is no error if a choice has error: %j, or mentions an error in its text only',
    async (error) => {
      const chunk = (content: string) =>
        chunkEvent({ choices: [{ index: 0, delta: { content, error: 'x' }, finish_reason: null, error }] });
      const parts = [chunk('a'), chunk('"error":{}'), chunk('c')];
      expect(await streamed(...parts)).toBe(`${parts.join('')}${DONE_EVENT}`);
    },
  );

  const ERROR = {
    object: 'error',
    message: `worker ${SECRET}:8000 died`,
    type: 'InternalServerError',
    code: 500,
  };
  const CHOICES = { choices: [{ index: 0, delta: {}, message: { content: 'x' } }], model: 'gateway/fast' };

  test.each([
    ['object: "error"', ERROR],
    ['object: "error" beside choices', { ...ERROR, ...CHOICES }],
    ['an error beside choices', { ...CHOICES, error: { message: SECRET } }],
    ['an error as a text', { ...CHOICES, error: SECRET }],
  ])('with %s becomes our own error, and the call is free', async (_what, fields) => {
    const { key, accountId } = await createTestKey(suite.db);
    const escaped = JSON.stringify(fields).replace('"object":"error"', '"object":"\\u0065rror"');
    for (const body of [JSON.stringify(fields), escaped]) {
      suite.upstream.answer(raw(200, body));
      const answer = await postChat(suite.edge.url, key);
      expect([answer.status, (await errorOf(answer.clone())).code]).toEqual([502, 'upstream_error']);
      await clean(answer);
      // In one piece: what follows the error is not part of the answer.
      suite.upstream.answer(stream([`data: ${body}\n\n${delta('a')}${usageEvent(5, 5)}${DONE_EVENT}`]));
      const first = await postChat(suite.edge.url, key, { stream: true });
      expect([first.status, (await errorOf(first.clone())).code]).toEqual([502, 'upstream_error']);
      await clean(first);
      suite.upstream.answer(stream([delta('a'), `data: ${body}\n\n`, usageEvent(5, 5), DONE_EVENT]));
      const later = await clean(await postChat(suite.edge.url, key, { stream: true }));
      expect(later).toMatch(/"code":"upstream_error"\}\}\n\n$/);
    }
    await suite.edge.settled();
    const rows = await usageOf(suite.db, accountId);
    expect(rows.map(({ status, cost }) => [status, cost])).toEqual(
      rows.map(() => ['error', '0.000000000000']),
    );
    expect(rows).toHaveLength(6);
  });

  test.each([
    ['event: error', `event: error\ndata: {"message":"${SECRET}"}\n\n`],
    ["llama.cpp's error line", `error: {"code":500,"message":"${SECRET}"}\n\n`],
    ['a chunk that is no JSON', `data: Traceback ${SECRET}\n\n`],
  ])('becomes our own error if it is in the event itself: %s', async (_what, event) => {
    const text = await streamed(delta('a'), event);
    expect(text.startsWith(delta('a'))).toBe(true);
    expect(text).toMatch(/"code":"upstream_error"\}\}\n\n$/);
  });
});
