import { setTimeout as pause } from 'node:timers/promises';
import { newApiKey } from '../../../src/lib/key-form.js';
import { until } from '../../support/until.js';
import { compareBooks } from '../rig/books.js';
import { Journal } from '../rig/client.js';
import type { Rig } from '../rig/rig.js';
import { faultsOf, faultsText, type Result, scaled, share, under, withRig } from './goal.js';

const SECONDS = 30;
const PER_SECOND = 200;
/** With fewer events, a rate can't be measured. */
const TELLING_EVENTS = 2_000;

/** G7: PostgreSQL unavailable for 30 s. */
export function outage(scale: number): Promise<Result> {
  const seconds = scaled(SECONDS, Math.min(1, scale * 10), 10);
  return withRig('G7', {}, async (rig, customers) => {
    const strangers = new Journal();
    let recoveredMs = 0;
    let drain = { events: 0, perSecond: Number.NaN };
    const entries = await under(rig, customers, { perSecond: PER_SECOND }, async () => {
      await rig.postgres.stop();
      for (const end = performance.now() + seconds * 1_000; performance.now() < end; ) {
        await strangers.call(rig.url, newApiKey());
        await pause(100);
      }
      const before = rig.journal.entries.length;
      await rig.postgres.start();
      const back = performance.now();
      const draining = drainRate(rig, before);
      await until(async () => (await strangers.call(rig.url, newApiKey())).status === 401, {
        intervalMs: 20,
      });
      recoveredMs = performance.now() - back;
      drain = await draining;
    });
    const served = entries.filter((entry) => entry.complete).length;
    const wrong = strangers.entries.slice(1, -1).filter((entry) => ![401, 503].includes(entry.status)).length;
    const { books } = await compareBooks(rig);
    const quick = drain.events < TELLING_EVENTS || drain.perSecond >= 5_000;
    return {
      goal: `G7 PostgreSQL down ${seconds} s at ${PER_SECOND} calls/s`,
      figure:
        'known keys ≥ 99.9 % served; 0 wrong 401; healthy ≤ 5 s after; backlog ≥ 5,000 events/s; 0 lost',
      reached: `${share(served, entries.length)} of ${entries.length} served, unknown keys answered otherwise than 503 or 401: ${wrong}, healthy after ${recoveredMs.toFixed(0)} ms, backlog of ${drain.events} events at ${drain.perSecond.toFixed(0)}/s, lost: ${faultsText(books)}`,
      ok:
        served / entries.length >= 0.999 &&
        wrong === 0 &&
        recoveredMs <= 5_000 &&
        quick &&
        faultsOf(books) === 0,
    };
  });
}

/** Events that waited and how quickly they were committed, from the first commit after the outage to the last of them. */
async function drainRate(rig: Rig, calls: number): Promise<{ events: number; perSecond: number }> {
  const committed = async () =>
    Number((await rig.postgres.pool.query('select count(*) as n from usage_events')).rows[0].n);
  const start = await until(() => committed().catch(() => undefined), { intervalMs: 5 });
  let first: { at: number; rows: number } | undefined;
  const last = await until(
    async () => {
      const rows = await committed();
      if (!first && rows > start) first = { at: performance.now(), rows };
      return rows >= calls ? rows : undefined;
    },
    { timeoutMs: 60_000, intervalMs: 5 },
  );
  const { at, rows } = first!;
  return { events: last - start, perSecond: ((last - rows) / (performance.now() - at)) * 1_000 };
}
