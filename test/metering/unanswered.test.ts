import { readdirSync } from 'node:fs';
import { guardConnection } from '../../src/db/patience.js';
import { type Money } from '../../src/lib/money.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { until } from '../support/until.js';
import { useCutOff } from './cut-off.js';
import { fillableDisk } from './fillable-disk.js';
import { finish, openMeter, recordOf, type TestMeter } from './support.js';

/** Delay of the statement and of its response; longer where the response must still be on its way later. */
const DELAY_MS = 500;
const LONG_DELAY_MS = 1_500;

describe('a commit whose response is lost while the disk is full', () => {
  let open: TestMeter;
  const disk = fillableDisk();
  const cutOff = useCutOff({
    max: 1,
    onConnect: guardConnection,
    async stop() {
      disk.full = false;
      await open.meter.stop();
    },
  });

  const rowOf = async ({ id }: UsageRecord): Promise<{ status: string } | undefined> =>
    (await cutOff.db.pool.query<{ status: string }>('select status from usage_events where id = $1', [id]))
      .rows[0];
  const statusOf = async (record: UsageRecord) => (await rowOf(record))?.status;
  const settledCost = (): Money =>
    open.flushed.flatMap(({ own }) => own).reduce((sum, { cost }) => sum + cost, 0n);

  /** A call whose event is on its way to the database over an open connection, and nowhere else. */
  const underWay = async (patienceMs: number, delayMs = DELAY_MS) => {
    open = await openMeter(cutOff.folder.path, cutOff.pool, { disk, patienceMs });
    await finish(open.meter, recordOf(cutOff.payer, { status: 'error' }));
    expect(await open.meter.drain(10_000)).toBe(true);
    disk.full = true;
    cutOff.link.delay(delayMs);
    const record = recordOf(cutOff.payer);
    const answer = finish(open.meter, record).then(
      () => 'ended',
      () => 'failed',
    );
    return { record, answer };
  };
  const committed = (record: UsageRecord) => until(() => rowOf(record), { what: 'the commit' });

  test("the call's answer ends once the next try finds the event, which is charged once", async () => {
    const { record, answer } = await underWay(25_000);
    await committed(record);
    cutOff.link.reset();
    cutOff.link.restore();
    expect(await answer).toBe('ended');
    expect(await open.meter.drain(10_000)).toBe(true);
    expect(settledCost()).toBe(record.cost);
  });

  test("the call's answer ends once the next try commits the event, if the first one did not", async () => {
    const { record, answer } = await underWay(25_000);
    await until(() => open.meter.backlog().events === 1, { what: 'the event to be sent' });
    cutOff.link.cut();
    cutOff.link.restore();
    expect(await answer).toBe('ended');
    expect(await statusOf(record)).toBe('success');
    expect(settledCost()).toBe(record.cost);
  });

  test("the call's answer ends once the disk is writable again, and the event is charged once", async () => {
    const { record, answer } = await underWay(25_000);
    await committed(record);
    cutOff.link.cut();
    disk.full = false;
    expect(await answer).toBe('ended');
    cutOff.link.restore();
    expect(await open.meter.drain(10_000)).toBe(true);
    expect(settledCost()).toBe(record.cost);
  });

  test('answers of calls outside the batch end with an error at once and are free', async () => {
    const { record, answer } = await underWay(25_000, LONG_DELAY_MS);
    await committed(record);
    const later = recordOf(cutOff.payer);
    const refused = expect(finish(open.meter, later)).rejects.toThrow('neither the spool nor the database');
    await until(() => open.meter.backlog().events === 2, { what: 'the event to wait' });
    cutOff.link.cut();
    await refused;
    cutOff.link.restore();
    expect(await answer).toBe('ended');
    expect(await open.meter.drain(10_000)).toBe(true);
    expect([await statusOf(record), await statusOf(later)]).toEqual(['success', 'error']);
    expect(settledCost()).toBe(record.cost);
  });

  test("the call's answer ends with an error if the database stays unavailable", async () => {
    const { record, answer } = await underWay(300, LONG_DELAY_MS);
    await committed(record);
    cutOff.link.cut();
    expect(await answer).toBe('failed');
    expect(open.meter.accepting()).toBe(false);
    cutOff.link.restore();
    expect(await open.meter.drain(10_000)).toBe(true);
    disk.full = false;
    await open.meter.stop();
    expect(readdirSync(cutOff.folder.path)).toEqual([]);
  });
});
