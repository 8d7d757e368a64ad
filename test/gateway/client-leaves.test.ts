import type { ServerResponse } from 'node:http';
import { onBusyMachine } from '../support/busy.js';
import { balanceOf, createTestKey, errorOf, postChat, type TestKey, usageOf } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { ownTime } from '../support/own-time.js';
import {
  chat,
  chunkEvent,
  DONE_EVENT,
  delta,
  type Script,
  stream,
  usageEvent,
} from '../support/scripted-upstream.js';
import { until } from '../support/until.js';

describe('a client that leaves', () => {
  // A call that waits for the hold of another takes of the time in which the edge waits for a usage.
  const suite = useEdge({ patience: { redisMs: 50, queueMs: 20 } });

  /** Opens a call, reads `bytes` of its answer (if any) and goes. Gives how long it took until all was over. */
  async function leave(caller: TestKey, fields: Record<string, unknown>, bytes: number): Promise<number> {
    const before = suite.upstream.seen.length;
    const controller = new AbortController();
    const pending = fetch(`${suite.edge.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}` },
      body: JSON.stringify({ model: 'gateway/fast', messages: [{ role: 'user', content: 'Hi' }], ...fields }),
      signal: controller.signal,
    });
    pending.catch(() => undefined);
    await until(() => suite.upstream.seen.length > before);
    if (bytes > 0) {
      const reader = (await pending).body!.getReader();
      for (let read = 0; read < bytes; ) read += (await reader.read()).value!.length;
    }
    const time = ownTime();
    const left = time.now();
    controller.abort();
    try {
      await until(() => suite.upstream.seen.at(-1)!.aborted, { what: 'the upstream to be cut' });
      await suite.edge.settled();
      return time.now() - left;
    } finally {
      time.stop();
    }
  }

  test('before the first byte pays nothing, and the upstream is cut', async () => {
    for (const fields of [{}, { stream: true }]) {
      const caller = await createTestKey(suite.db);
      suite.upstream.answer(() => undefined);
      expect(await leave(caller, fields, 0)).toBeLessThan(onBusyMachine(1_000));
      expect(await usageOf(suite.db, caller.accountId)).toEqual([
        expect.objectContaining({
          status: 'error',
          error_code: 'client_closed_request',
          http_status: 499,
          client_aborted: true,
          cost: '0.000000000000',
        }),
      ]);
    }
  });

  test('after headers but before a token pays nothing', async () => {
    const caller = await createTestKey(suite.db);
    const opening = chunkEvent({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] });
    suite.upstream.answer(stream([opening], { finish: false }));
    await leave(caller, { stream: true }, opening.length);
    expect(await usageOf(suite.db, caller.accountId)).toEqual([
      expect.objectContaining({ status: 'error', client_aborted: true, cost: '0.000000000000' }),
    ]);
  });

  test.each([1, 7, 100])('after %i tokens pays for what was generated', async (k) => {
    const caller = await createTestKey(suite.db);
    const parts = Array.from({ length: k }, (_, i) => delta(`${i} `));
    suite.upstream.answer(stream(parts, { finish: false }));
    await leave(caller, { stream: true }, parts.join('').length);
    expect(await usageOf(suite.db, caller.accountId)).toEqual([
      expect.objectContaining({
        status: 'success',
        client_aborted: true,
        estimated: true,
        http_status: 200,
        input_tokens: 8,
        output_tokens: k,
        cost: `0.${((8 * 1 + k * 3) * 1e5).toString().padStart(12, '0')}`,
      }),
    ]);
  });

  test("pays the node's running usage if it sends one", async () => {
    const caller = await createTestKey(suite.db);
    const parts = [1, 2, 3].map((n) =>
      chunkEvent({
        choices: [{ index: 0, delta: { content: 'x' } }],
        usage: { prompt_tokens: 40, completion_tokens: 10 * n },
      }),
    );
    suite.upstream.answer(stream(parts, { finish: false }));
    await leave(caller, { stream: true }, parts.join('').length);
    expect(await usageOf(suite.db, caller.accountId)).toEqual([
      expect.objectContaining({
        status: 'success',
        client_aborted: true,
        estimated: false,
        input_tokens: 40,
        output_tokens: 30,
      }),
    ]);
  });

  test.each([
    [
      'pays what the usage reports',
      500,
      { status: 'success', estimated: false, input_tokens: 40, output_tokens: 500 },
    ],
    ['pays nothing where it reports no token either', 0, { status: 'error', cost: '0.000000000000' }],
  ])('of a stream with a running usage and no text %s', async (_what, tokens, event) => {
    const caller = await createTestKey(suite.db);
    const parts = [0, tokens].map((completion_tokens) =>
      chunkEvent({
        choices: [{ index: 0, delta: { content: '' } }],
        usage: { prompt_tokens: 40, completion_tokens },
      }),
    );
    suite.upstream.answer(stream(parts, { finish: false }));
    const fields = { stream: true, stream_options: { include_usage: true } };
    await leave(caller, fields, parts.join('').length);
    expect(await usageOf(suite.db, caller.accountId)).toEqual([
      expect.objectContaining({ ...event, client_aborted: true }),
    ]);
  });

  test('leaves no hold behind', async () => {
    const caller = await createTestKey(suite.db, { balance: '0.004' });
    // Each of these calls holds $0.0033: two at once would not fit.
    for (let i = 0; i < 20; i++) {
      suite.upstream.answer(() => undefined);
      await leave(caller, {}, 0);
    }
    suite.upstream.answer(chat());
    expect((await postChat(suite.edge.url, caller.key)).status).toBe(200);
  });

  describe('after the finish reason', () => {
    const finish = (content?: string) =>
      chunkEvent({ choices: [{ index: 0, delta: content ? { content } : {}, finish_reason: 'stop' }] });

    /** Sends `parts` at once, and `rest` once `goOn` is called. */
    function inTwo(parts: string[], rest: string[]): { script: Script; goOn: () => void } {
      const gone = Promise.withResolvers<void>();
      const script: Script = async (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(parts.join(''));
        await gone.promise;
        response.end(rest.join(''));
      };
      return { script, goOn: gone.resolve };
    }

    async function seenLeaving(): Promise<number> {
      const { values } = await suite.edge.registry.getSingleMetric('gateway_requests_total')!.get();
      return values.find(({ labels }) => labels.code === 'client_closed_request')?.value ?? 0;
    }

    /** Opens a stream, reads all that `parts` have and goes; the edge has seen that at the end. */
    async function readAndGo(caller: TestKey, parts: string[]): Promise<void> {
      const before = await seenLeaving();
      const { body } = await postChat(suite.edge.url, caller.key, { stream: true });
      const reader = body!.getReader();
      const bytes = parts.join('').length;
      for (let read = 0; read < bytes; ) read += (await reader.read()).value!.length;
      await reader.cancel();
      await until(async () => (await seenLeaving()) > before, { what: 'the edge to see the client leave' });
    }

    test.each([
      ['of its own', [delta('Hel'), delta('lo.'), finish()]],
      ['beside the last text', [delta('Hel'), finish('lo.')]],
      ['after an early count', [usageEvent(0, 0), delta('Hello.'), finish()]],
      ['without any text', [finish()]],
    ])('pays the usage that is reported afterwards: a reason %s', async (_what, parts) => {
      const shown = parts.filter((part) => !part.includes('"choices":[]'));
      const { caller, meanwhile } = await until(
        async () => {
          // A hold is $0.0033, so that there is room for one.
          const caller = await createTestKey(suite.db, { balance: '0.005' });
          const { script, goOn } = inTwo(parts, [usageEvent(8_000, 34), DONE_EVENT]);
          suite.upstream.answer(script);
          await readAndGo(caller, shown);
          const left = suite.upstream.seen.at(-1)!;
          const meanwhile = await postChat(suite.edge.url, caller.key);
          const { aborted } = left;
          goOn();
          // The edge waits for 800 ms: a machine that was kept for longer tries again.
          return aborted ? undefined : { caller, meanwhile };
        },
        { what: 'an upstream that reports its usage in time' },
      );
      expect([meanwhile.status, (await errorOf(meanwhile)).message]).toEqual([
        402,
        expect.stringContaining('in progress'),
      ]);
      await until(async () => (await usageOf(suite.db, caller.accountId)).length > 0);
      expect(await usageOf(suite.db, caller.accountId)).toEqual([
        expect.objectContaining({
          status: 'success',
          client_aborted: true,
          estimated: false,
          input_tokens: 8_000,
          output_tokens: 34,
          cost: '0.000810200000',
        }),
      ]);
      expect(await balanceOf(suite.db, caller.accountId)).toBe('0.004189800000');
    });

    test('an empty usage counts as missing: the upstream is cut and the caller pays the estimate', async () => {
      const caller = await createTestKey(suite.db);
      const parts = [
        delta('Hello.'),
        chunkEvent({ choices: [{ index: 0, delta: { content: 'Go on.' }, finish_reason: '' }] }),
      ];
      const { script, goOn } = inTwo(parts, [usageEvent(8_000, 34), DONE_EVENT]);
      suite.upstream.answer(script);
      await readAndGo(caller, parts);
      goOn();
      await suite.edge.settled();
      expect(await usageOf(suite.db, caller.accountId)).toMatchObject([
        { status: 'success', client_aborted: true, estimated: true, input_tokens: 8, output_tokens: 3 },
      ]);
    });

    test.each([
      ['is silent', () => undefined],
      ['breaks off', (response) => response.destroy()],
      ['tells an error', (response) => response.write('data: {"error":{"message":"no"}}\n\n')],
      ['ends without its usage', (response) => response.end(DONE_EVENT)],
    ] as [string, (response: ServerResponse) => unknown][])(
      'pays an estimate if the upstream %s, and no hold remains',
      async (_what, then) => {
        const caller = await createTestKey(suite.db, { balance: '0.004' });
        const parts = [delta('Hello.'), finish()];
        let upstream: ServerResponse | undefined;
        suite.upstream.answer((_request, response) => {
          upstream = response;
          response.writeHead(200, { 'content-type': 'text/event-stream' }).write(parts.join(''));
        });
        await readAndGo(caller, parts);
        then(upstream!);
        await until(() => upstream!.closed, { what: 'the upstream to be cut' });
        await until(async () => (await usageOf(suite.db, caller.accountId)).length > 0);
        expect(await usageOf(suite.db, caller.accountId)).toEqual([
          expect.objectContaining({
            ...{ status: 'success', client_aborted: true, estimated: true },
            ...{ input_tokens: 8, output_tokens: 2 },
          }),
        ]);
        suite.upstream.answer(chat());
        expect((await postChat(suite.edge.url, caller.key)).status).toBe(200);
      },
    );

    test('stops reading after as many bytes as a usage can have', async () => {
      const caller = await createTestKey(suite.db);
      const parts = [delta('Hello.'), finish()];
      let sent = 0;
      suite.upstream.answer(async (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(parts.join(''));
        for (; !response.destroyed; sent += 16_000) {
          response.write(`: ${'x'.repeat(16_000)}\n\n`);
          await new Promise((next) => setImmediate(next));
        }
      });
      await readAndGo(caller, parts);
      const before = sent;
      await until(() => suite.upstream.seen.at(-1)!.aborted);
      expect(sent - before).toBeLessThan(4 * 1024 * 1024);
    });
  });

  describe('with an input whose size is unknown', () => {
    const asks = (type: string) => ({
      stream: true,
      messages: [{ role: 'user', content: [{ type, [type]: { url: 'https://a.example/b' } }] }],
    });

    test.each([
      ['video_url', 8_192],
      ['file_url', 8_192],
      ['image_url', 788],
    ])('pays the hold for %s unless its tokens can be counted: %i tokens', async (type, input) => {
      const caller = await createTestKey(suite.db);
      const parts = [delta('a'), delta('b')];
      suite.upstream.answer(stream(parts, { finish: false }));
      await leave(caller, asks(type), parts.join('').length);
      expect(await usageOf(suite.db, caller.accountId)).toEqual([
        expect.objectContaining({ input_tokens: input, output_tokens: 2, estimated: true }),
      ]);
    });

    test('pays no more than the usual estimate for staying where the upstream reports nothing', async () => {
      const caller = await createTestKey(suite.db);
      suite.upstream.answer(stream([delta('a'), DONE_EVENT]));
      await (await postChat(suite.edge.url, caller.key, asks('video_url'))).arrayBuffer();
      await suite.edge.settled();
      expect(await usageOf(suite.db, caller.accountId)).toEqual([
        expect.objectContaining({ input_tokens: 23, output_tokens: 1, estimated: true }),
      ]);
    });

    test('counts text about escapes as text', async () => {
      const caller = await createTestKey(suite.db);
      const parts = [delta('a')];
      suite.upstream.answer(stream(parts, { finish: false }));
      const content = 'What is \\u0061 in JSON?';
      await leave(caller, { stream: true, messages: [{ role: 'user', content }] }, parts[0]!.length);
      expect((await usageOf(suite.db, caller.accountId))[0]!.input_tokens).toBe(14);
    });
  });

  test('pays a whole answer in full as soon as its headers have arrived', async () => {
    const caller = await createTestKey(suite.db);
    const content = 'x'.repeat(8 * 1024 * 1024);
    suite.upstream.answer(chat({ choices: [{ index: 0, message: { role: 'assistant', content } }] }));
    const { body } = await postChat(suite.edge.url, caller.key);
    await body!.cancel();
    await suite.edge.settled();
    expect(await usageOf(suite.db, caller.accountId)).toEqual([
      expect.objectContaining({ status: 'success', input_tokens: 12, output_tokens: 34, estimated: false }),
    ]);
  });
});
