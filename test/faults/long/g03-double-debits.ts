import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { newId } from '../../../src/lib/ids.js';
import { createPayer, leaveSpool, metricOf, openMeter, recordOf } from '../../metering/support.js';
import { checkInvariants } from '../../support/invariants.js';
import { until } from '../../support/until.js';
import { startRigPostgres } from '../rig/postgres.js';
import { type Result, scaled } from './goal.js';

const EVENTS = 100_000;
const PAYERS = 20;
const SEGMENT = 5_000;
/** Which flusher gets which of the three copies. */
const COPIES = [0, 0, 1];

/** G3: the same events in three spools, replayed by two flushers at once. */
export async function doubleDebits(scale: number): Promise<Result> {
  const events = scaled(EVENTS, scale, 5_000);
  const folder = mkdtempSync(join(tmpdir(), 'gateway-debits-'));
  const postgres = await startRigPostgres(folder);
  const pools = [0, 1].map(() => new pg.Pool({ connectionString: postgres.url, max: 2 }));
  // Ended by the server at the close.
  for (const pool of pools) pool.on('error', () => undefined);
  try {
    const payers = await Promise.all(Array.from({ length: PAYERS }, () => createPayer(postgres.pool)));
    const records = Array.from({ length: events }, (_, i) =>
      recordOf(payers[i % PAYERS]!, { inputTokens: 1 + (i % 97), outputTokens: 1 + (i % 89) }),
    );
    const segments = Array.from({ length: Math.ceil(events / SEGMENT) }, (_, i) =>
      records.slice(i * SEGMENT, (i + 1) * SEGMENT),
    );
    const original = leaveSpool(join(folder, 'original'), segments);
    for (const flusher of COPIES) {
      mkdirSync(join(folder, `spool-${flusher}`), { recursive: true });
      cpSync(original, join(folder, `spool-${flusher}`, newId()), { recursive: true });
    }
    const began = performance.now();
    const meters = await Promise.all(pools.map((pool, i) => openMeter(join(folder, `spool-${i}`), pool)));
    const replayed = async () =>
      (
        await Promise.all(meters.map(({ registry }) => metricOf(registry, 'metering_replayed_events_total')))
      ).reduce((sum, count) => sum + count, 0);
    await until(async () => (await replayed()) === COPIES.length * events, {
      timeoutMs: 1_800_000,
      intervalMs: 200,
    });
    const seconds = (performance.now() - began) / 1_000;
    for (const { meter } of meters) await meter.stop();
    const total = records.reduce((sum, { cost }) => sum + cost, 0n);
    const { rows } = await postgres.pool.query<Record<'events' | 'debits' | 'units', string>>(
      `select (select count(*) from usage_events) as events,
         (select count(seq) from calls) as debits,
         (select (sum(cost) * 1000000000000)::numeric(40, 0) from calls) as units`,
    );
    const found = rows[0]!;
    const violations = await checkInvariants(postgres.pool);
    const right =
      Number(found.events) === events && Number(found.debits) === events && BigInt(found.units) === total;
    return {
      goal: `G3 ${events} events replayed 3 times by 2 flushers at once`,
      figure: '0 double debits of 100,000 events',
      reached: `${found.events} events, ${found.debits} debits, ${found.units} units debited of ${total}, broken invariants: ${violations.length}; ${((COPIES.length * events) / seconds).toFixed(0)} events/s read and judged`,
      ok: right && violations.length === 0,
    };
  } finally {
    for (const pool of pools) await pool.end();
    await postgres.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
