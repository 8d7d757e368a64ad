import { randomBytes } from 'node:crypto';
import { resealJob } from '../../src/jobs/keys.jobs.js';
import { newId } from '../../src/lib/ids.js';
import { createEnvelopes } from '../../src/services/envelopes.js';
import { resealAll } from '../../src/services/keys/reseal.service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { jobContext } from './support.js';

const OLD = 'the-key-before-the-rotation-0123456789abcdef';
const NEW = 'the-key-after-the-rotation-0123456789abcdefg';
const before = createEnvelopes({ encryptionKey: OLD, encryptionKeyPrevious: undefined });
const during = createEnvelopes({ encryptionKey: NEW, encryptionKeyPrevious: OLD });
const after = createEnvelopes({ encryptionKey: NEW, encryptionKeyPrevious: undefined });

/** Until a statement of the database waits for a lock. */
const expectWaiter = (db: TestDatabase) =>
  until(async () => {
    const { rows } = await db.pool.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  });

describe('the job that re-encrypts values', () => {
  let db: TestDatabase;
  beforeEach(async () => {
    db = await createTestDatabase();
  });
  afterEach(() => db.close());

  /** An account with a data key, a virtual key, and an API key with a webhook. */
  const addAccount = async (envelopes: typeof before) => {
    const [id, keyId] = [newId(), newId()];
    await db.pool.query(
      `insert into accounts (id, name, data_key_sealed, virtual_key_sealed, created_at)
       values ($1, 'A', $2, $3, now())`,
      [
        id,
        envelopes.dataKey.seal(`data of ${id}`, `account:${id}:data_key`),
        envelopes.virtualKey.seal(`virtual of ${id}`, `account:${id}:virtual_key`),
      ],
    );
    await db.pool.query(
      `insert into api_keys (id, account_id, name, key_prefix, last_four, key_hash, virtual_key_sealed, created_at)
       values ($1, $2, 'k', 'sk-pr-abcd', 'wxyz', $3, $4, now())`,
      [
        keyId,
        id,
        randomBytes(32),
        envelopes.virtualKey.seal(`virtual of ${keyId}`, `api_key:${keyId}:virtual_key`),
      ],
    );
    const alertId = newId();
    await db.pool.query(
      `insert into alert_subscriptions (id, account_id, key_id, kind, destination, thresholds_pct, signing_secret_sealed,
         created_at, updated_at) values ($1, $2, $3, 'webhook', 'https://x.example', '{80}', $4, now(), now())`,
      [
        alertId,
        id,
        keyId,
        envelopes.alertSecret.seal(`secret of ${alertId}`, `alert_subscription:${alertId}:signing_secret`),
      ],
    );
    return { id, keyId };
  };
  /** The contents of all rows, as read by a process with these keys. */
  const readAll = async (envelopes: typeof before): Promise<string[]> => {
    const accounts = await db.pool.query<Record<'id' | 'data_key_sealed' | 'virtual_key_sealed', string>>(
      'select id, data_key_sealed, virtual_key_sealed from accounts order by id',
    );
    const keys = await db.pool.query<Record<'id' | 'virtual_key_sealed', string>>(
      'select id, virtual_key_sealed from api_keys order by id',
    );
    const alerts = await db.pool.query<Record<'id' | 'signing_secret_sealed', string>>(
      'select id, signing_secret_sealed from alert_subscriptions order by id',
    );
    return [
      ...alerts.rows.map((row) =>
        envelopes.alertSecret
          .open(row.signing_secret_sealed, `alert_subscription:${row.id}:signing_secret`)
          .toString(),
      ),
      ...accounts.rows.flatMap((row) => [
        envelopes.dataKey.open(row.data_key_sealed, `account:${row.id}:data_key`).toString(),
        envelopes.virtualKey.open(row.virtual_key_sealed, `account:${row.id}:virtual_key`).toString(),
      ]),
      ...keys.rows.map((row) =>
        envelopes.virtualKey.open(row.virtual_key_sealed, `api_key:${row.id}:virtual_key`).toString(),
      ),
    ];
  };

  test('renews every value in batches, also in two processes at once, so that the previous key can be removed', async () => {
    for (let at = 0; at < 5; at++) await addAccount(before);
    await addAccount(during);
    const values = await readAll(during);
    const runs = await Promise.all(
      [1, 2].map(() => resealAll(jobContext(db.orm).context, { envelopes: during, batch: 2 })),
    );
    expect(runs.map(({ left, unreadable }) => [left, unreadable])).toEqual([
      [0, 0],
      [0, 0],
    ]);
    expect(runs.reduce((sum, { resealed }) => sum + resealed, 0)).toBe(20);
    expect(await readAll(after)).toEqual(values);
  });

  test('logs how many are left, and nothing if there is nothing to do', async () => {
    await addAccount(before);
    const reports: unknown[] = [];
    const job = resealJob({ envelopes: during }, (old) => reports.push(old));
    const { context, logged } = jobContext(db.orm);
    await job.run(context, {});
    await job.run(context, {});
    expect(reports).toEqual([
      { left: 0, unreadable: 0 },
      { left: 0, unreadable: 0 },
    ]);
    expect(logged).toEqual([expect.objectContaining({ resealed: 4, left: 0, unreadable: 0 })]);
  });

  test('counts and keeps values that no key opens, and renews the rest', async () => {
    const { keyId } = await addAccount(before);
    await addAccount(before);
    await db.pool.query(`update api_keys set virtual_key_sealed = 'v1.unknown0.abc' where id = $1`, [keyId]);
    const result = await resealAll(jobContext(db.orm).context, { envelopes: during, batch: 1 });
    expect(result).toEqual({ resealed: 7, left: 0, unreadable: 1 });
    const { rows } = await db.pool.query('select virtual_key_sealed as sealed from api_keys where id = $1', [
      keyId,
    ]);
    expect(rows).toEqual([{ sealed: 'v1.unknown0.abc' }]);
  });

  test('overwrites no value that changed after it was read', async () => {
    const { keyId } = await addAccount(before);
    const changed = before.virtualKey.seal('changed', `api_key:${keyId}:virtual_key`);
    const client = await db.pool.connect();
    await client.query('begin');
    await client.query('update api_keys set virtual_key_sealed = $2 where id = $1', [keyId, changed]);
    // Reads the old value, then waits for the row until the change is committed.
    const running = resealAll(jobContext(db.orm).context, { envelopes: during });
    await expectWaiter(db);
    await client.query('commit');
    client.release();
    expect(await running).toEqual({ resealed: 3, left: 1, unreadable: 0 });
    const { rows } = await db.pool.query('select virtual_key_sealed as sealed from api_keys where id = $1', [
      keyId,
    ]);
    expect(rows).toEqual([{ sealed: changed }]);
  });
});
