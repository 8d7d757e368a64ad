import { setTimeout as pause } from 'node:timers/promises';
import { newApiKey } from '../../../src/lib/key-form.js';
import type { TestKey } from '../../support/edge.js';
import { until } from '../../support/until.js';
import { type Books, compareBooks } from '../rig/books.js';
import { type Entry, Journal, outcome, steadyLoad } from '../rig/client.js';
import { type Rig, startRig } from '../rig/rig.js';

/** What came of one goal. */
export interface Result {
  goal: string;
  figure: string;
  reached: string;
  ok: boolean;
}

/** Share of the full figure, (0, 1]: how many kills, how long a load. */
export type Scale = number;

const faultsOf = (books: Books): number =>
  Object.values(books).reduce((sum: number, list: string[]) => sum + list.length, 0);

const share = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(3)} %`;

function percentile(values: number[], at: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(at * sorted.length))] ?? Number.NaN;
}

async function withRig<T>(
  name: string,
  options: Parameters<typeof startRig>[1],
  run: (rig: Rig, customers: TestKey[]) => Promise<T>,
): Promise<T> {
  const rig = await startRig(name, { balance: '100000', ...options });
  try {
    return await run(rig, await rig.customers(20));
  } finally {
    await rig.close();
  }
}

/** Calls at an even pace, half of them streams, while `happens` runs. */
async function under(
  rig: Rig,
  customers: TestKey[],
  perSecond: number,
  happens: () => Promise<void>,
): Promise<Entry[]> {
  const first = rig.journal.entries.length;
  let over = false;
  const load = steadyLoad(
    perSecond,
    () => over,
    (i) =>
      rig.journal.call(
        rig.url,
        customers[i % customers.length]!.key,
        { words: 1 + (i % 20), ttftMs: i % 30 },
        { stream: i % 2 === 0, patienceMs: 30_000 },
      ),
  );
  try {
    await until(() => rig.journal.entries.length > first + 2 * customers.length);
    await happens();
  } finally {
    over = true;
    await load;
  }
  return rig.journal.entries.slice(first);
}

/** Kills of everything, one after another, and every answer charged. */
export function lostEvents(scale: Scale): Promise<Result> {
  const kills = Math.max(4, Math.round(300 * scale));
  return withRig('G1', { whole: true }, async (rig, customers) => {
    const restart = async (): Promise<void> => {
      const victim = rig.random.pick(['edge', 'edge', 'platform', 'jobs', 'postgres'] as const);
      if (victim === 'postgres') {
        await rig.postgres.kill();
        await rig.postgres.start();
      } else {
        await rig[victim].end('SIGKILL');
        await rig[victim].start();
      }
    };
    await under(rig, customers, 150, async () => {
      for (let i = 0; i < kills; i++) {
        await pause(rig.random.between(50, 1_500));
        await restart();
      }
    });
    const { books, counts } = await compareBooks(rig, { crashes: true, timeoutMs: 30_000 });
    const faults = faultsOf(books);
    return {
      goal: 'G1 lost or invented events over kills',
      figure: `0 of 300,000 calls over 300 kills; here ${kills} kills of edge, platform, jobs and PostgreSQL`,
      reached: `${faults} of ${counts.complete} completed calls (${counts.rows} events)${faults > 0 ? ` ${JSON.stringify(books).slice(0, 400)}` : ''}`,
      ok: faults === 0,
    };
  });
}

/** From the last byte of an answer to its debit in the database. */
export function balanceDelay(scale: Scale): Promise<Result> {
  const seconds = Math.max(5, Math.round(60 * scale));
  return withRig('G6', {}, async (rig, customers) => {
    const delays: number[] = [];
    const look = async (id: string): Promise<void> => {
      const began = performance.now();
      await until(
        async () =>
          (await rig.postgres.pool.query('select from ledger_entries where event_id = $1', [id])).rowCount,
        { intervalMs: 5 },
      );
      delays.push(performance.now() - began);
    };
    const end = performance.now() + seconds * 1_000;
    const made = await steadyLoad(
      500,
      () => performance.now() > end,
      async (i) => {
        const entry = await rig.journal.call(rig.url, customers[i % 20]!.key, { words: 5 });
        if (i % 50 === 0 && entry.complete) await look(entry.id!);
      },
    );
    const took = rig.journal.entries.at(-1)!.startedAt - rig.journal.entries[0]!.startedAt;
    const [p50, p99] = [percentile(delays, 0.5), percentile(delays, 0.99)];
    return {
      goal: 'G6 event to visible balance',
      figure: 'p50 ≤ 100 ms, p99 ≤ 500 ms at 500 calls/s',
      reached: `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms at ${((made / took) * 1_000).toFixed(0)} calls/s (${delays.length} samples)`,
      ok: p50 <= 100 && p99 <= 500,
    };
  });
}

/** PostgreSQL away for 30 s. */
export function outage(scale: Scale): Promise<Result> {
  const seconds = Math.max(10, Math.round(30 * Math.min(1, scale * 10)));
  return withRig('G7', {}, async (rig, customers) => {
    const strangers = new Journal();
    let recoveredMs = 0;
    let drainedPerSecond = 0;
    const entries = await under(rig, customers, 150, async () => {
      await rig.postgres.stop();
      for (const end = performance.now() + seconds * 1_000; performance.now() < end; ) {
        await strangers.call(rig.url, newApiKey());
        await pause(100);
      }
      const waiting = rig.journal.entries.length;
      await rig.postgres.start();
      const back = performance.now();
      await until(async () => (await strangers.call(rig.url, newApiKey())).status === 401, {
        intervalMs: 20,
      });
      recoveredMs = performance.now() - back;
      await until(
        async () =>
          Number((await rig.postgres.pool.query('select count(*) as n from usage_events')).rows[0].n) >=
          waiting,
        { intervalMs: 20 },
      );
      drainedPerSecond = (150 * seconds) / ((performance.now() - back) / 1_000);
    });
    const served = entries.filter((entry) => entry.complete).length;
    const wrong = strangers.entries.slice(1, -1).filter((entry) => ![401, 503].includes(entry.status)).length;
    const faults = faultsOf((await compareBooks(rig)).books);
    return {
      goal: `G7 PostgreSQL down ${seconds} s at 150 calls/s`,
      figure: 'known keys ≥ 99.9 % served; healthy ≤ 5 s after; 0 lost',
      reached: `${share(served, entries.length)} of ${entries.length} served, unknown keys answered otherwise than 503 or 401: ${wrong}, healthy after ${recoveredMs.toFixed(0)} ms, backlog of ${150 * seconds} events gone at ≥ ${drainedPerSecond.toFixed(0)}/s from the start of the server, lost: ${faults}`,
      ok: served / entries.length >= 0.999 && wrong === 0 && recoveredMs <= 5_000 && faults === 0,
    };
  });
}

/** PostgreSQL away for longer than what is known may serve. */
export function longOutage(): Promise<Result> {
  return withRig('G8', {}, async (rig, customers) => {
    const outages: Entry[] = [];
    const began = performance.now();
    const entries = await under(rig, customers, 20, async () => {
      await rig.postgres.stop();
      await pause(70_000);
      outages.push(await rig.journal.call(rig.url, customers[0]!.key));
      await rig.postgres.start();
      await until(async () => (await rig.journal.call(rig.url, customers[0]!.key)).status === 200);
    });
    const refused = entries.filter((entry) => outcome(entry) !== '200');
    const firstRefusal = Math.min(...refused.map((entry) => entry.startedAt)) - began;
    const honest = refused.every((entry) => entry.status === 503 && entry.retryAfter !== undefined);
    const faults = faultsOf((await compareBooks(rig)).books);
    return {
      goal: 'G8 PostgreSQL down 70 s',
      figure: 'known keys ≤ 60 s, then 503 with Retry-After; 0 unbilled',
      reached: `first refusal ${(firstRefusal / 1_000).toFixed(1)} s after the load began, ${refused.length} refusals, all 503 with Retry-After: ${honest ? 'yes' : `no (${JSON.stringify(rig.journal.tally(refused))})`}, unbilled or lost: ${faults}`,
      ok: honest && outages[0]!.status === 503 && firstRefusal > 50_000 && faults === 0,
    };
  });
}

/** Restarts in order, under load, with callers who come back while the connection is refused. */
export function restarts(scale: Scale): Promise<Result[]> {
  const count = Math.max(5, Math.round(20 * Math.min(1, scale * 10)));
  return withRig('G11', {}, async (rig, customers) => {
    const stops: number[] = [];
    const starts: number[] = [];
    const entries = await under(rig, customers, 100, async () => {
      for (let i = 0; i < count; i++) {
        await pause(rig.random.between(500, 1_000));
        stops.push((await rig.edge.end('SIGTERM')).tookMs);
        starts.push(await rig.edge.start());
      }
    });
    const failed = entries.filter((entry) => outcome(entry) !== '200');
    const { books } = await compareBooks(rig, { crashes: true });
    return [
      {
        goal: `G11 ${count} restarts of the one edge at 100 calls/s`,
        figure: '0 failed calls; exit ≤ 35 s',
        reached: `${failed.length} of ${entries.length} failed ${failed.length > 0 ? JSON.stringify(rig.journal.tally(failed)) : ''}, longest stop ${Math.max(...stops).toFixed(0)} ms, books: ${faultsOf(books)} faults`,
        ok: failed.length === 0 && Math.max(...stops) <= 35_000 && faultsOf(books) === 0,
      },
      {
        goal: 'G12 start of an edge',
        figure: 'serves ≤ 2 s after its start',
        reached: `p50 ${percentile(starts, 0.5).toFixed(0)} ms, longest ${Math.max(...starts).toFixed(0)} ms of ${starts.length}, with 100 calls/s waiting`,
        ok: Math.max(...starts) <= 2_000,
      },
    ];
  });
}
