import { onBusyMachine } from '../support/busy.js';
import type { TestKey } from '../support/edge.js';
import { until } from '../support/until.js';
import { CLEAN, compareBooks } from './rig/books.js';
import { outcome } from './rig/client.js';
import { type Rig, startRig } from './rig/rig.js';

/** Faults of the upstream and of the way to it: requirements F1 to F5. */
describe('when the upstream', () => {
  let rig: Rig;
  let customer: TestKey;
  beforeAll(async () => {
    rig = await startRig('upstream', {
      // With a limit of one second, a freeze of this process would end calls that the upstream answers.
      edgeEnv: { UPSTREAM_TIMEOUT_SECONDS: '3', UPSTREAM_IDLE_SECONDS: '3' },
    });
    [customer] = (await rig.customers(1)) as [TestKey];
  }, 60_000);
  afterEach(() => rig.links.upstream.restore());
  afterAll(() => rig?.close(), 60_000);

  const rowOf = async (id: string) =>
    until(
      async () =>
        (
          await rig.postgres.pool.query<{
            status: string;
            error_code: string | null;
            output_tokens: number;
            cost: string;
            client_aborted: boolean;
          }>(
            'select status, error_code, output_tokens, cost::text, client_aborted from usage_events where id = $1',
            [id],
          )
        ).rows[0],
    );

  const many = <T>(count: number, one: (i: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: count }, (_, i) => one(i)));

  test.each([1, 7, 100])(
    'loses its caller after %i tokens, it is cut at once and these tokens are charged',
    async (k) => {
      const entries = await many(10, () =>
        rig.journal.call(
          rig.url,
          customer.key,
          { words: 10_000, chunkMs: 2 },
          { stream: true, leaveAfter: k },
        ),
      );
      const leftAt = performance.now();
      for (const entry of entries) {
        const call = await until(() => {
          const found = rig.upstream.forwarded.get(entry.id!);
          return found?.closedAt ? found : undefined;
        });
        expect(call.aborted).toBe(true);
        // A second, and time for a busy machine. Otherwise it would go on for twenty.
        expect(call.closedAt - leftAt).toBeLessThan(onBusyMachine(3_000));
        const row = await rowOf(entry.id!);
        expect(row).toMatchObject({ status: 'success', client_aborted: true });
        expect(row.output_tokens).toBeGreaterThanOrEqual(k);
        expect(row.output_tokens).toBeLessThanOrEqual(call.sent);
      }
    },
  );

  test('loses its caller before the first byte, it is cut and nothing is charged', async () => {
    const forwardedOf = (n: number) =>
      until(() => [...rig.upstream.forwarded.values()].find(({ order }) => order.n === n));
    const entries = await many(20, (i) =>
      rig.journal.call(
        rig.url,
        customer.key,
        { fault: 'silent' },
        { stream: i % 2 === 0, leaveOnce: forwardedOf },
      ),
    );
    expect(entries.every((entry) => entry.left)).toBe(true);
    for (const { n } of entries) {
      const call = await forwardedOf(n);
      await until(() => call.closedAt > 0);
      expect(await rowOf(call.id)).toMatchObject({ status: 'error', cost: '0.000000000000' });
    }
  });

  test.each([
    ['resets the connection', 'reset'],
    ['ends without [DONE]', 'truncate'],
  ] as const)(
    '%s in the middle of a stream, the caller gets an error event and pays nothing',
    async (_name, fault) => {
      const entries = await many(10, () =>
        rig.journal.call(rig.url, customer.key, { words: 9, chunkMs: 10, fault, after: 3 }, { stream: true }),
      );
      for (const entry of entries) {
        expect(outcome(entry)).toBe('error event upstream_error');
        expect(entry.tokens).toBe(3);
        expect(await rowOf(entry.id!)).toMatchObject({ status: 'error', cost: '0.000000000000' });
      }
    },
  );

  test('sends a malformed or incomplete whole answer, the call gets a 502 and is free', async () => {
    for (const fault of ['garbage', 'truncate', 'refuse'] as const) {
      const entry = await rig.journal.call(rig.url, customer.key, { fault });
      expect(outcome(entry)).toBe('502 upstream_error');
      expect(await rowOf(entry.id!)).toMatchObject({ status: 'error', cost: '0.000000000000' });
    }
  });

  test('does not respond, the call gets a 504 in time; when it stalls in a stream, an error event', async () => {
    const [silent, stalled] = await Promise.all([
      rig.journal.call(rig.url, customer.key, { fault: 'silent' }),
      rig.journal.call(rig.url, customer.key, { words: 9, fault: 'stall', after: 4 }, { stream: true }),
    ]);
    expect(outcome(silent)).toBe('504 upstream_timeout');
    expect(outcome(stalled)).toBe('error event upstream_timeout');
    expect(stalled.tokens).toBe(4);
    expect(Math.max(silent.tookMs, stalled.tookMs)).toBeLessThan(onBusyMachine(6_000));
  });

  test("can't be reached over a frozen link, calls time out and later ones succeed", async () => {
    const stream = rig.journal.call(rig.url, customer.key, { words: 200, chunkMs: 10 }, { stream: true });
    await until(() => rig.journal.entries.at(-1)!.tokens > 0, { what: 'the stream to reach the caller' });
    // The upstream would close a connection that was idle for seconds while the link is frozen.
    expect(outcome(await rig.journal.call(rig.url, customer.key))).toBe('200');
    rig.links.upstream.freeze();
    const call = await rig.journal.call(rig.url, customer.key);
    expect(outcome(call)).toBe('504 upstream_timeout');
    expect(outcome(await stream)).toBe('error event upstream_timeout');
    rig.links.upstream.restore();
    expect(outcome(await rig.journal.call(rig.url, customer.key))).toBe('200');
  });

  test('is behind a link that delays and fragments everything, answers are complete', async () => {
    // A busy machine delays every piece, and an answer must begin within seconds, so there are only dozens of pieces.
    rig.links.upstream.split(50, rig.random.next);
    rig.links.upstream.delay(1);
    const entries = await many(4, (i) =>
      rig.journal.call(rig.url, customer.key, { words: 4 }, { stream: i % 2 === 0 }),
    );
    expect(rig.journal.tally(entries)).toEqual({ '200': 4 });
    expect(entries.filter((_, i) => i % 2 === 0).map((entry) => entry.tokens)).toEqual([4, 4]);
  });

  test('half-closes the connection in the middle of a stream, the stream ends with an error', async () => {
    const call = rig.journal.call(rig.url, customer.key, { words: 200, chunkMs: 10 }, { stream: true });
    await until(() => rig.journal.entries.at(-1)!.tokens > 0, { what: 'the stream to reach the caller' });
    rig.links.upstream.halfClose();
    expect(outcome(await call)).toBe('error event upstream_error');
  });

  test('disappears and returns, or its link resets, each call ends at once and the books agree', async () => {
    rig.links.upstream.cut();
    const refused = await many(10, () => rig.journal.call(rig.url, customer.key));
    expect(rig.journal.tally(refused)).toEqual({ '502 upstream_error': 10 });
    // Calls are refused at once, without waiting for a timeout.
    expect(Math.max(...refused.map((entry) => entry.tookMs))).toBeLessThan(onBusyMachine(3_000));
    rig.links.upstream.restore();
    expect(outcome(await rig.journal.call(rig.url, customer.key))).toBe('200');
    // The last of this file: every call of all its tests.
    await until(() => rig.upstream.open() === 0);
    expect((await compareBooks(rig)).books).toEqual(CLEAN);
  });
});
