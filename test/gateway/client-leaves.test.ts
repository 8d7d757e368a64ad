import { createTestKey, postChat, type TestKey, usageOf } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { chunkEvent, delta, stream } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';

describe('a client that leaves', () => {
  const suite = useEdge();

  /** Opens a call, reads `bytes` of its answer (if any) and goes. */
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
    const left = Date.now();
    controller.abort();
    await until(() => suite.upstream.seen.at(-1)!.aborted, { what: 'the upstream to be cut' });
    await suite.edge.settled();
    return Date.now() - left;
  }

  test('before the first byte pays nothing, and the upstream is cut', async () => {
    for (const fields of [{}, { stream: true }]) {
      const caller = await createTestKey(suite.db);
      suite.upstream.answer(() => undefined);
      expect(await leave(caller, fields, 0)).toBeLessThan(1_000);
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

  test("pays by the node's running usage where it sends one", async () => {
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

  test('leaves no hold behind', async () => {
    const caller = await createTestKey(suite.db, { balance: '0.004' });
    // Each of these calls holds $0.0033: two at once would not fit.
    for (let i = 0; i < 20; i++) {
      suite.upstream.answer(() => undefined);
      await leave(caller, {}, 0);
    }
    suite.upstream.answer(stream([]));
    expect((await postChat(suite.edge.url, caller.key)).status).not.toBe(402);
  });
});
