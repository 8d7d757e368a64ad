import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { newApiKey } from '../../src/lib/key-form.js';
import { onBusyMachine } from '../support/busy.js';
import { createTestKey, type TestKey } from '../support/edge.js';
import { until } from '../support/until.js';
import { CLEAN, compareBooks } from './rig/books.js';
import { type Entry, Journal, outcome, steadyLoad } from './rig/client.js';
import { type Rig, startRig } from './rig/rig.js';

/** Outages of PostgreSQL under load: requirements F8, F9, F10; goal G7. */
/** A hundred calls or more for each outage of seconds: one that fails is more than one in a thousand. */
const PER_SECOND = 20;

describe('while PostgreSQL', () => {
  let rig: Rig;
  let customers: TestKey[];
  beforeAll(async () => {
    rig = await startRig('database');
    customers = await rig.customers(10);
  }, 60_000);
  afterAll(() => rig?.close(), 60_000);

  interface Outage {
    known: Entry[];
    unknown: Entry[];
  }

  /** Load with known keys, and now and then a key that the edge has never seen, while `happens` runs. */
  async function under(happens: () => Promise<void>): Promise<Outage> {
    const known: Entry[] = [];
    const strangers = new Journal();
    let over = false;
    const load = steadyLoad(
      PER_SECOND,
      () => over,
      async (i) => {
        const { key } = customers[i % customers.length]!;
        known.push(await rig.journal.call(rig.url, key, { words: 5 }, { stream: i % 3 === 0 }));
      },
    );
    const others = steadyLoad(
      5,
      () => over,
      () => strangers.call(rig.url, newApiKey()),
    );
    try {
      // Every key has been read before the fault.
      await until(() => known.length >= 2 * customers.length);
      await happens();
    } finally {
      over = true;
      await Promise.all([load, others]);
    }
    return { known, unknown: strangers.entries };
  }

  /** Resolves to the milliseconds until the edge serves a key that it can only find in the database. */
  async function recovery(): Promise<number> {
    const began = performance.now();
    const { key } = await until(() => createTestKey(rig.postgres).catch(() => undefined), {
      intervalMs: 50,
    });
    await until(async () => (await rig.journal.call(rig.url, key)).status === 200, { intervalMs: 50 });
    return performance.now() - began;
  }

  const healthOf = async () => (await fetch(`${rig.url}/health`)).json() as Promise<{ status: string }>;

  function expectServed({ known, unknown }: Outage): void {
    const served = known.filter((entry) => outcome(entry) === '200').length;
    expect({ tally: rig.journal.tally(known), share: served / known.length >= 0.999 }).toEqual({
      tally: expect.anything(),
      share: true,
    });
    // No key is reported as wrong while the edge can't look it up.
    const wrong = unknown.filter(
      (entry) => !['401 invalid_api_key', '503 service_unavailable'].includes(outcome(entry)),
    );
    expect(wrong.map(outcome)).toEqual([]);
    const refusals = unknown.filter((entry) => entry.status === 503);
    expect(refusals.length).toBeGreaterThan(0);
    expect(refusals.every((entry) => entry.retryAfter === '1')).toBe(true);
    // At most two readings of 2 s; the rest is for a busy machine. A hanging call would take much longer.
    expect(Math.max(...unknown.map((entry) => entry.tookMs))).toBeLessThan(onBusyMachine(8_000));
  }

  test('is down, known keys are served, unknown ones get a Retry-After, and all calls are charged afterwards', async () => {
    const outage = await under(async () => {
      await rig.postgres.stop();
      await pause(6_000);
      expect(await healthOf()).toMatchObject({ status: 'ok' });
      await rig.postgres.start();
      expect(await recovery()).toBeLessThan(onBusyMachine(5_000));
    });
    expectServed(outage);
    expect((await compareBooks(rig)).books).toEqual(CLEAN);
  }, 60_000);

  test('is killed and restarted again and again, no event is lost', async () => {
    const outage = await under(async () => {
      for (let i = 0; i < 2; i++) {
        await rig.postgres.kill();
        await pause(rig.random.between(0, 300));
        await rig.postgres.start();
        expect(await recovery()).toBeLessThan(onBusyMachine(5_000));
      }
    });
    const { known } = outage;
    expect(rig.journal.tally(known)).toEqual({ '200': known.length });
    expect((await compareBooks(rig)).books).toEqual(CLEAN);
  }, 60_000);

  test('has two connections left, billing works and nobody hangs', async () => {
    const held: pg.Client[] = [];
    const hold = async (): Promise<boolean> => {
      const client = new pg.Client({ connectionString: rig.postgres.url });
      client.on('error', () => undefined);
      return client.connect().then(
        () => held.push(client) > 0,
        () => false,
      );
    };
    const outage = await under(async () => {
      try {
        // In tens, because PostgreSQL starts a process for each.
        while (!(await Promise.all(Array.from({ length: 10 }, hold))).includes(false));
        for (const client of held.splice(-2)) await client.end().catch(() => undefined);
        // Everybody has to reconnect, and there is room for two.
        rig.links.database.reset();
        await pause(3_000);
      } finally {
        await Promise.all(held.map((client) => client.end()));
      }
      expect(await recovery()).toBeLessThan(onBusyMachine(5_000));
    });
    expect(rig.journal.tally(outage.known)).toEqual({ '200': outage.known.length });
    expect(outage.unknown.filter((entry) => ![401, 503].includes(entry.status))).toEqual([]);
    expect((await compareBooks(rig)).books).toEqual(CLEAN);
  }, 60_000);

  test('is frozen, nobody hangs', async () => {
    const outage = await under(async () => {
      rig.postgres.freeze();
      await pause(7_000);
      expect(await healthOf()).toMatchObject({ status: 'ok' });
      rig.postgres.resume();
      expect(await recovery()).toBeLessThan(onBusyMachine(5_000));
    });
    expectServed(outage);
    expect(Math.max(...outage.known.map((entry) => entry.tookMs))).toBeLessThan(onBusyMachine(3_000));
    expect((await compareBooks(rig)).books).toEqual(CLEAN);
  }, 60_000);

  test('is down at the start of an edge, the edge waits and then serves', async () => {
    await rig.postgres.stop();
    await rig.edge.end('SIGKILL');
    const starting = rig.edge.start();
    // Not a wait for a condition: an edge that gives up would do so within this time.
    await pause(1_500);
    expect(rig.edge.running()).toBe(true);
    await rig.postgres.start();
    await starting;
    expect((await rig.journal.call(rig.url, customers[0]!.key)).status).toBe(200);
    expect((await compareBooks(rig, { crashes: true })).books).toEqual(CLEAN);
  }, 60_000);
});
