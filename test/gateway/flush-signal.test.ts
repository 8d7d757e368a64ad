import { decodeFlushed, USAGE_FLUSHED_CHANNEL } from '../../src/db/invalidation.js';
import { listen } from '../../src/db/listen.js';
import { createFlushSignal } from '../../src/gateway/flush-signal.js';
import { newId } from '../../src/lib/ids.js';
import { createLogger } from '../../src/lib/logger.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { createTestKey, postChat, startTestEdge } from '../support/edge.js';
import { startScriptedUpstream } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';

const log = createLogger('test', 'silent');

describe('the signal of flushed usage', () => {
  test('names the accounts at once, in at most one message per 100 ms', async () => {
    const sent: { at: number; ids: string[] | null }[] = [];
    const signal = createFlushSignal({
      log,
      send: async (payload) => void sent.push({ at: performance.now(), ids: decodeFlushed(payload) }),
    });
    const ids = Array.from({ length: 40 }, newId);
    const began = performance.now();
    signal.notify([ids[0]!]);
    expect(sent).toHaveLength(1);
    // As many flushes as a busy edge has, over half a second.
    for (let next = 1; next < ids.length; next++) {
      signal.notify([ids[next]!, ids[next - 1]!]);
      await new Promise((resolve) => setTimeout(resolve, 12));
    }
    await until(() => new Set(sent.flatMap((one) => one.ids)).size === ids.length);
    const gaps = sent.slice(1).map(({ at }, n) => at - sent[n]!.at);
    expect(Math.min(...gaps)).toBeGreaterThan(95);
    expect(sent.length).toBeLessThanOrEqual(Math.ceil((performance.now() - began) / 100) + 1);
    await signal.stop();
  });

  test('means all accounts when the list would be too long for PostgreSQL', async () => {
    const payloadFor = async (accounts: number): Promise<string> => {
      const sent: string[] = [];
      const signal = createFlushSignal({ log, send: async (payload) => void sent.push(payload) });
      signal.notify([...Array.from({ length: accounts }, newId)]);
      await signal.stop();
      return sent[0]!;
    };
    expect(decodeFlushed(await payloadFor(189))).toHaveLength(189);
    expect((await payloadFor(189)).length).toBeLessThan(7_000);
    expect(decodeFlushed(await payloadFor(190))).toBeNull();
  });

  test('sends nothing for a batch without accounts', async () => {
    const sent: string[] = [];
    const signal = createFlushSignal({ log, send: async (payload) => void sent.push(payload) });
    signal.notify([]);
    await signal.stop();
    expect(sent).toEqual([]);
  });

  test('sends a failed message again, together with newer accounts', async () => {
    let away = true;
    const sent: string[][] = [];
    const signal = createFlushSignal({
      log,
      intervalMs: 5,
      async send(payload) {
        if (away) throw new Error('nobody there');
        sent.push(decodeFlushed(payload)!.sort());
      },
    });
    signal.notify(['a']);
    signal.notify(['b']);
    away = false;
    await until(() => sent.length > 0);
    expect(sent).toEqual([['a', 'b']]);
    await signal.stop();
  });

  test('sends pending accounts on stop', async () => {
    const sent: string[] = [];
    const signal = createFlushSignal({
      log,
      intervalMs: 60_000,
      send: async (payload) => void sent.push(payload),
    });
    signal.notify(['a']);
    signal.notify(['b']);
    await signal.stop();
    expect(sent).toEqual(['a', 'b']);
  });
});

describe('over PostgreSQL', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(async () => {
    await db.close();
  });

  test('is sent after the commit, and names the account but nothing of the call', async () => {
    const upstream = await startScriptedUpstream();
    const edge = await startTestEdge(db, { upstreamUrl: upstream.url });
    const payloads: string[] = [];
    const rowsThen: Promise<number>[] = [];
    let ready = false;
    const { accountId, key } = await createTestKey(db);
    const listener = listen({
      databaseUrl: db.url,
      channel: USAGE_FLUSHED_CHANNEL,
      log,
      onNotify(payload) {
        payloads.push(payload);
        const count = db.pool.query('select 1 from usage_events where account_id = $1', [accountId]);
        rowsThen.push(count.then(({ rowCount }) => rowCount ?? 0));
      },
      onListening() {
        ready = true;
      },
    });
    try {
      await until(() => ready);
      await postChat(edge.url, key);
      await until(() => payloads.length > 0);
      expect(payloads).toEqual([accountId]);
      expect(await rowsThen[0]).toBe(1);
    } finally {
      await listener.stop();
      await edge.close();
      await upstream.close();
    }
  });
});
