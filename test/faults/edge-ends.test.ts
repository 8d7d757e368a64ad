import { setTimeout as pause } from 'node:timers/promises';
import { onBusyMachine } from '../support/busy.js';
import type { TestKey } from '../support/edge.js';
import { sized } from '../support/size.js';
import { until } from '../support/until.js';
import { CLEAN, compareBooks } from './rig/books.js';
import { outcome, steadyLoad } from './rig/client.js';
import { type Rig, startRig } from './rig/rig.js';

/** The end of the edge under load: requirements F13, F14; goals G1, G11, G12. */
/** Streams of 50 ms: one or two are open at each moment, so that a kill cuts some. */
const PER_SECOND = 40;
const KILLS = sized(2, 10);
const RESTARTS = sized(1, 5);
/** Longer than the start of an edge takes on a busy machine. */
const PATIENCE_MS = 40_000;

describe('an edge under load', () => {
  let rig: Rig;
  let customers: TestKey[];
  beforeAll(async () => {
    rig = await startRig('edge-ends');
    customers = await rig.customers(10);
  }, 60_000);
  afterAll(() => rig?.close(), 60_000);

  /** Callers that retry while the connection is refused; whole answers, or streams of some 50 ms. */
  async function under(streams: boolean, happens: () => Promise<void>): Promise<number> {
    const first = rig.journal.entries.length;
    let over = false;
    const load = steadyLoad(
      PER_SECOND,
      () => over,
      (i) =>
        rig.journal.call(
          rig.url,
          customers[i % customers.length]!.key,
          { words: 1 + (i % 20), ttftMs: i % 30, chunkMs: i % 3 },
          { stream: streams && i % 2 === 0, patienceMs: PATIENCE_MS },
        ),
    );
    try {
      await until(() => rig.journal.entries.length > first + 20);
      await happens();
    } finally {
      over = true;
      await load;
    }
    return first;
  }

  test('a killed edge loses no event, and the next one adopts its spool within 10 s', async () => {
    let lastStart = 0;
    const first = await under(true, async () => {
      for (let i = 0; i < KILLS; i++) {
        await pause(rig.random.between(100, 900));
        // One or two calls are in flight at nearly every moment.
        await until(() => rig.upstream.open() > 0, { intervalMs: 1, what: 'an answer to be under way' });
        await rig.edge.end('SIGKILL');
        await rig.edge.start();
        lastStart = performance.now();
      }
    });
    const entries = rig.journal.entries.slice(first);
    const { books } = await compareBooks(rig, { crashes: true });
    expect(books).toEqual(CLEAN);
    expect(performance.now() - lastStart).toBeLessThan(onBusyMachine(10_000));
    // Only calls in flight at a kill were cut off; all others were served.
    expect(entries.every((entry) => outcome(entry) === '200' || entry.broken !== undefined)).toBe(true);
    expect(entries.some((entry) => outcome(entry) !== '200')).toBe(true);
  }, 60_000);

  test('an orderly restart fails no call', async () => {
    const stops: { code: number | null; tookMs: number }[] = [];
    const first = await under(true, async () => {
      for (let i = 0; i < RESTARTS; i++) {
        await pause(rig.random.between(400, 900));
        stops.push(await rig.edge.end('SIGTERM'));
        await rig.edge.start();
      }
    });
    expect(stops.map((stop) => stop.code)).toEqual(Array(RESTARTS).fill(0));
    expect(Math.max(...stops.map((stop) => stop.tookMs))).toBeLessThan(onBusyMachine(35_000));
    // A connection accepted by the system at the very moment of the close is reset, and the edge never sees it.
    const failed = rig.journal.entries.slice(first).filter((entry) => outcome(entry) !== '200');
    expect(failed.filter((entry) => entry.broken !== 'ECONNRESET' || entry.id !== undefined)).toEqual([]);
    expect(failed.length).toBeLessThanOrEqual(RESTARTS);
    const forwarded = new Set([...rig.upstream.forwarded.values()].map(({ order }) => order.n));
    expect(failed.filter((entry) => forwarded.has(entry.n))).toEqual([]);
    expect((await compareBooks(rig, { crashes: true })).books).toEqual(CLEAN);
  }, 60_000);

  test('an edge that is frozen for seconds continues where it was', async () => {
    const first = await under(false, async () => {
      rig.edge.freeze();
      await pause(1_500);
      rig.edge.resume();
      await pause(500);
    });
    const entries = rig.journal.entries.slice(first);
    expect(rig.journal.tally(entries)).toEqual({ '200': entries.length });
    expect((await compareBooks(rig, { crashes: true })).books).toEqual(CLEAN);
  }, 60_000);
});

/** Longer than the 28 s that calls have without the setting. */
const LONG = { words: 62, ttftMs: 10, chunkMs: 500 };

describe.each([
  ['60', '200', 31_000, 60_000],
  ['4', 'error event service_unavailable', 3_200, 10_200],
])('with DRAIN_SECONDS=%s', (seconds, expected, atLeastMs, atMostMs) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig(`drain-${seconds}`, { edgeEnv: { DRAIN_SECONDS: seconds } });
  }, 60_000);
  afterAll(() => rig?.close(), 60_000);

  test(`a stream of half a minute ends with ${expected}`, async () => {
    const [customer] = await rig.customers(1);
    const streaming = rig.journal.call(rig.url, customer!.key, LONG, { stream: true, limitMs: 60_000 });
    await until(() => rig.upstream.open() > 0);
    const { code, tookMs } = await rig.edge.end('SIGTERM');
    expect(outcome(await streaming)).toBe(expected);
    expect(code).toBe(0);
    expect(tookMs).toBeGreaterThan(atLeastMs - 1_000);
    expect(tookMs).toBeLessThan(onBusyMachine(atMostMs));
    await rig.edge.start();
    expect((await compareBooks(rig, { crashes: true })).books).toEqual(CLEAN);
  }, 120_000);
});
