import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DOLLAR } from '../../src/lib/money.js';
import { listDeadLetters } from '../../src/metering/dead-letters.js';
import { realDisk } from '../../src/metering/segment.js';
import { decodeFrames, HEADER_BYTES } from '../../src/metering/spool-record.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { checkInvariants } from '../support/invariants.js';
import { soonerThan } from '../support/sooner-than.js';
import { until } from '../support/until.js';
import {
  begin,
  createPayer,
  finish,
  intentOf,
  metricOf,
  openMeter,
  type Payer,
  recordOf,
  temporaryFolder,
} from './support.js';

/** Contents of the newest segment of the only process. */
function spooled(directory: string): { ids: string[]; intents: string[] } {
  const [folder] = readdirSync(directory);
  const [file] = readdirSync(join(directory, folder!))
    .filter((name) => name.endsWith('.seg'))
    .reverse();
  const { entries } = decodeFrames(readFileSync(join(directory, folder!, file!)), HEADER_BYTES);
  return {
    ids: entries.flatMap((entry) => (entry.kind === 'event' ? [entry.record.id] : [])),
    intents: entries.flatMap((entry) => (entry.kind === 'intent' ? [entry.intent.id] : [])),
  };
}

describe('a meter', () => {
  let db: TestDatabase;
  let payer: Payer;
  let folder: ReturnType<typeof temporaryFolder>;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.close());
  beforeEach(async () => {
    folder = temporaryFolder();
    payer = await createPayer(db.pool, DOLLAR);
  });
  afterEach(async () => {
    folder.remove();
    expect(await checkInvariants(db.pool)).toEqual([]);
  });

  const eventsOf = async (who: Payer): Promise<number> => {
    const { rows } = await db.pool.query<{ n: number }>(
      'select count(*)::integer as n from usage_events where account_id = $1',
      [who.accountId],
    );
    return rows[0]!.n;
  };

  test('lets an answer end only after its event is in the file', async () => {
    const { meter } = await openMeter(folder.path, db.pool);
    const record = recordOf(payer);
    const seen = new Promise<string[]>((resolve) => {
      meter.finish(record, () => resolve(spooled(folder.path).ids));
    });
    expect(spooled(folder.path).ids).toEqual([]);
    expect(await seen).toContain(record.id);
    await meter.stop();
  });

  test('writes all records of one turn of the event loop with one write', async () => {
    const writes: number[] = [];
    const disk = {
      ...realDisk,
      write(...args: Parameters<typeof realDisk.write>) {
        writes.push(args[3]);
        return realDisk.write(...args);
      },
    };
    const { meter } = await openMeter(folder.path, db.pool, { disk });
    writes.length = 0;
    const records = Array.from({ length: 300 }, () => recordOf(payer));
    begin(meter, intentOf(payer, { id: records[0]!.id }));
    const order: string[] = [];
    await Promise.all(records.map((record) => finish(meter, record).then(() => order.push(record.id))));
    expect(writes).toHaveLength(1);
    expect(order).toEqual(records.map((record) => record.id));
    expect(spooled(folder.path)).toEqual({ ids: order, intents: [records[0]!.id] });
    await meter.stop();
  });

  test('commits within a few hundred milliseconds and reports what changed', async () => {
    const { meter, flushed } = await openMeter(folder.path, db.pool);
    const record = recordOf(payer);
    await finish(meter, record);
    await soonerThan(2_000, () => flushed.length > 0, 'the commit');
    expect(flushed[0]).toEqual({
      own: [record],
      accounts: [{ id: payer.accountId, balance: DOLLAR - record.cost, seq: 2n }],
      keyDays: [
        {
          keyId: payer.keyId,
          day: new Date(record.createdAt).toISOString().slice(0, 10),
          spend: record.cost,
        },
      ],
      alerted: [],
    });
    await meter.stop();
  });

  test('drains on demand and leaves no spool behind', async () => {
    const { meter, registry } = await openMeter(folder.path, db.pool);
    const records = Array.from({ length: 2_500 }, () => recordOf(payer));
    for (const record of records) begin(meter, intentOf(payer, { id: record.id }));
    const all = Promise.all(records.map((record) => finish(meter, record)));
    expect(await meter.drain(10_000)).toBe(true);
    await all;
    expect(await eventsOf(payer)).toBe(2_500);
    expect(meter.backlog()).toEqual({ events: 0, oldestMs: 0 });
    expect(await metricOf(registry, 'metering_spool_events')).toBe(0);
    await meter.stop();
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('refuses calls once it has stopped', async () => {
    const { meter } = await openMeter(folder.path, db.pool);
    await meter.stop();
    expect(meter.accepting()).toBe(false);
    await expect(finish(meter, recordOf(payer))).rejects.toThrow('stopped');
  });

  test('moves a record that the database rejects to the dead letters after five tries, and commits all others', async () => {
    const { meter, registry, flushed } = await openMeter(folder.path, db.pool);
    const refused = recordOf(payer, { inputTokens: -1, cost: 0n });
    const stranger = recordOf({ accountId: refused.id, keyId: refused.id });
    const good = Array.from({ length: 40 }, () => recordOf(payer));
    const mixed: UsageRecord[] = [...good.slice(0, 17), refused, stranger, ...good.slice(17)];
    await Promise.all(mixed.map((record) => finish(meter, record)));
    await until(async () => (await eventsOf(payer)) === 40);
    await until(async () => (await metricOf(registry, 'metering_dead_letters_total')) === 2);
    const set = await listDeadLetters(folder.path);
    const reasons = new Map(set.map(({ record, reason }) => [record.id, reason]));
    expect(reasons.size).toBe(2);
    expect(reasons.get(refused.id)).toMatch('calls_input_tokens_check');
    expect(reasons.get(stranger.id)).toMatch('does not exist');
    // Every event is reported to the pending charges once, dead letters included.
    const settled = flushed.flatMap((result) => result.own.map((record) => record.id));
    expect(settled.toSorted()).toEqual(mixed.map((record) => record.id).toSorted());
    await meter.stop();
    expect(readdirSync(folder.path)).toEqual(['dead-letters']);
  });

  test('moves a record that makes a trigger raise to the dead letters', async () => {
    const { meter, registry } = await openMeter(folder.path, db.pool);
    const refused = recordOf(payer);
    await db.pool.query(`create function refuse_one() returns trigger language plpgsql as $$ begin
      if new.id = '${refused.id}' then raise exception 'not this one'; end if; return new; end $$`);
    await db.pool.query(
      'create trigger refuse_one before insert on calls_default for each row execute function refuse_one()',
    );
    try {
      await Promise.all([refused, recordOf(payer), recordOf(payer)].map((record) => finish(meter, record)));
      await until(async () => (await metricOf(registry, 'metering_dead_letters_total')) === 1);
      expect(await eventsOf(payer)).toBe(2);
    } finally {
      await db.pool.query('drop trigger refuse_one on calls_default');
    }
    await meter.stop();
  });

  test('keeps the spool if calls are still open at its stop', async () => {
    const { meter } = await openMeter(folder.path, db.pool);
    const intent = intentOf(payer);
    begin(meter, intent);
    await finish(meter, recordOf(payer));
    await meter.stop();
    const [own] = readdirSync(folder.path);
    expect(existsSync(join(folder.path, own!, 'owner.json'))).toBe(false);
    const next = await openMeter(folder.path, db.pool, { patienceMs: 25_000 });
    const { rows } = await db.pool.query('select * from usage_events where id = $1', [intent.id]);
    expect(rows).toMatchObject([
      {
        status: 'error',
        error_code: 'gateway_terminated',
        http_status: 502,
        created_at: new Date(intent.at),
      },
    ]);
    await next.meter.stop();
    expect(readdirSync(folder.path)).toEqual([]);
  });
});
