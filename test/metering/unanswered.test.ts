import { readdirSync } from 'node:fs';
import pg from 'pg';
import { guardConnection } from '../../src/db/patience.js';
import { DOLLAR, type Money } from '../../src/lib/money.js';
import type { UsageRecord } from '../../src/metering/usage-record.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { checkInvariants } from '../support/invariants.js';
import { createTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { fillableDisk } from './fillable-disk.js';
import {
  createPayer,
  finish,
  openMeter,
  type Payer,
  recordOf,
  type TestMeter,
  temporaryFolder,
} from './support.js';

/** The statement and its answer each take so long on their way. */
const DELAY_MS = 500;

describe('a commit whose answer is lost, while the disk is full', () => {
  let db: TestDatabase;
  let link: TcpProxy;
  let pool: pg.Pool;
  let payer: Payer;
  let folder: ReturnType<typeof temporaryFolder>;
  let open: TestMeter;
  const disk = fillableDisk();
  beforeAll(async () => {
    db = await createTestDatabase();
    link = await createTcpProxy(Number(new URL(db.url).port));
  });
  afterAll(async () => {
    await link.close();
    await db.close();
  });
  beforeEach(async () => {
    folder = temporaryFolder();
    payer = await createPayer(db.pool, DOLLAR);
    pool = new pg.Pool({ connectionString: link.urlOf(db.url), max: 1 });
    pool.on('error', () => undefined);
    pool.on('connect', guardConnection);
  });
  afterEach(async () => {
    link.restore();
    disk.full = false;
    await open.meter.stop();
    await pool.end();
    folder.remove();
    expect(await checkInvariants(db.pool)).toEqual([]);
  });

  const rowOf = async ({ id }: UsageRecord): Promise<{ status: string } | undefined> =>
    (await db.pool.query<{ status: string }>('select status from usage_events where id = $1', [id])).rows[0];
  const statusOf = async (record: UsageRecord) => (await rowOf(record))?.status;
  const settledCost = (): Money =>
    open.flushed.flatMap(({ own }) => own).reduce((sum, { cost }) => sum + cost, 0n);

  /** A call whose event is on its way to the database, over a connection that stands, and nowhere else. */
  const underWay = async (patienceMs: number) => {
    open = await openMeter(folder.path, pool, { disk, patienceMs });
    await finish(open.meter, recordOf(payer, { status: 'error' }));
    expect(await open.meter.drain(10_000)).toBe(true);
    disk.full = true;
    link.delay(DELAY_MS);
    const record = recordOf(payer);
    const answer = finish(open.meter, record).then(
      () => 'ended',
      () => 'failed',
    );
    return { record, answer };
  };
  const committed = (record: UsageRecord) => until(() => rowOf(record), { what: 'the commit' });

  test('lets the answer end once the next try finds the event, and charges it once', async () => {
    const { record, answer } = await underWay(25_000);
    await committed(record);
    link.reset();
    link.restore();
    expect(await answer).toBe('ended');
    expect(await open.meter.drain(10_000)).toBe(true);
    expect(settledCost()).toBe(record.cost);
  });

  test('lets the answer end once the next try commits the event, if the first did not', async () => {
    const { record, answer } = await underWay(25_000);
    await until(() => open.meter.backlog().events === 1, { what: 'the event to be sent' });
    link.cut();
    link.restore();
    expect(await answer).toBe('ended');
    expect(await statusOf(record)).toBe('success');
    expect(settledCost()).toBe(record.cost);
  });

  test('lets it end once the disk is back, and charges it once', async () => {
    const { record, answer } = await underWay(25_000);
    await committed(record);
    link.cut();
    disk.full = false;
    expect(await answer).toBe('ended');
    link.restore();
    expect(await open.meter.drain(10_000)).toBe(true);
    expect(settledCost()).toBe(record.cost);
  });

  test('ends the answers of calls that were not in it at once, and charges nothing for them', async () => {
    const { record, answer } = await underWay(25_000);
    await committed(record);
    const later = recordOf(payer);
    const refused = expect(finish(open.meter, later)).rejects.toThrow('neither the spool nor the database');
    await until(() => open.meter.backlog().events === 2, { what: 'the event to wait' });
    link.cut();
    await refused;
    link.restore();
    expect(await answer).toBe('ended');
    expect(await open.meter.drain(10_000)).toBe(true);
    expect([await statusOf(record), await statusOf(later)]).toEqual(['success', 'error']);
    expect(settledCost()).toBe(record.cost);
  });

  test('ends the answer with an error when the database stays away', async () => {
    const { record, answer } = await underWay(300);
    await committed(record);
    link.cut();
    expect(await answer).toBe('failed');
    expect(open.meter.accepting()).toBe(false);
    link.restore();
    expect(await open.meter.drain(10_000)).toBe(true);
    disk.full = false;
    await open.meter.stop();
    expect(readdirSync(folder.path)).toEqual([]);
  });
});
