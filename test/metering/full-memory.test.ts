import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { until } from '../support/until.js';
import { useCutOff } from './cut-off.js';
import { fillableDisk } from './fillable-disk.js';
import { finish, metricOf, openMeter, recordOf, type TestMeter } from './support.js';

describe('a meter whose memory is full while the database is unavailable', () => {
  let open: TestMeter;
  const disk = fillableDisk();
  const cutOff = useCutOff({ stop: async () => void (await open.meter.stop()) });

  const some = (count: number): UsageRecord[] =>
    Array.from({ length: count }, () => recordOf(cutOff.payer, { inputTokens: 3, outputTokens: 1 }));
  const record = async (count: number): Promise<UsageRecord[]> => {
    const records = some(count);
    await Promise.all(records.map((one) => finish(open.meter, one)));
    return records;
  };
  /** All events of one turn of the event loop. From the next turn on, events stay on the disk. */
  const fill = async (syncFails = 0): Promise<UsageRecord[]> => {
    disk.syncs = 0;
    open = await openMeter(cutOff.folder.path, cutOff.pool, { disk, memoryEvents: 100, heartbeatMs: 1 });
    // The next sync is the one of the segment that holds them.
    await until(() => disk.syncs > 0, { what: 'the first sync' });
    disk.syncFails = syncFails;
    cutOff.link.cut();
    return record(150);
  };
  const own = () => `${cutOff.folder.path}/${readdirSync(cutOff.folder.path)[0]}`;
  const segmentOf = ({ id }: UsageRecord): string | undefined =>
    readdirSync(own())
      .filter((name) => name.endsWith('.seg'))
      .toReversed()
      .find((name) => readFileSync(`${own()}/${name}`).includes(id));
  /** Each event is reported as settled once, so the count of pending events returns to zero. */
  const expectSettledOnce = async (records: UsageRecord[]): Promise<void> => {
    cutOff.link.restore();
    expect(await open.meter.drain(20_000)).toBe(true);
    const settled = open.flushed.flatMap((result) => result.own.map(({ id }) => id));
    expect(settled.sort()).toEqual(records.map(({ id }) => id).sort());
    const { rows } = await cutOff.db.pool.query<{ id: string }>(
      'select id from usage_events where account_id = $1',
      [cutOff.payer.accountId],
    );
    expect(rows.map(({ id }) => id).sort()).toEqual(settled);
    await open.meter.stop();
    expect(readdirSync(cutOff.folder.path)).toEqual([]);
  };

  test('settles each event once when fdatasync fails', async () => {
    const kept = await fill(1);
    const first = segmentOf(kept[0]!);
    await until(() => disk.syncFails === 0 && segmentOf(kept[0]!) !== first, { what: 'the copies' });
    const spilled = await record(50);
    expect(segmentOf(spilled[0]!)).toBe(segmentOf(kept[0]!));
    await expectSettledOnce([...kept, ...spilled]);
  });

  test('settles each event once when somebody deletes the folder, except those that were nowhere else', async () => {
    const kept = await fill();
    await record(50);
    rmSync(own(), { recursive: true });
    await until(() => existsSync(`${own()}/owner.json`) && segmentOf(kept[0]!), { what: 'the copies' });
    const spilled = await record(50);
    expect(segmentOf(spilled[0]!)).toBe(segmentOf(kept[0]!));
    await expectSettledOnce([...kept, ...spilled]);
  });

  test('settles each event once when the disk is full for a while', async () => {
    const kept = await fill();
    await until(async () => (await metricOf(open.registry, 'metering_flush_failures_total')) > 0);
    disk.full = true;
    const refused = some(10);
    await Promise.allSettled(refused.map((one) => finish(open.meter, one)));
    disk.full = false;
    await until(() => segmentOf(refused[0]!), { what: 'the copies' });
    const spilled = await record(50);
    expect(segmentOf(spilled[0]!)).toBe(segmentOf(refused[0]!));
    await expectSettledOnce([...kept, ...refused, ...spilled]);
  });
});
