import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '../../src/lib/ids.js';
import { DOLLAR } from '../../src/lib/money.js';
import { listDeadLetters, setAside } from '../../src/metering/dead-letters.js';
import { runCommand } from '../support/command.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { checkInvariants } from '../support/invariants.js';
import { createPayer, type Payer, recordOf } from './support.js';

describe('npm run dead-letters', () => {
  let db: TestDatabase;
  let payer: Payer;
  let data: string;
  let spool: string;
  beforeEach(async () => {
    db = await createTestDatabase();
    payer = await createPayer(db.pool, DOLLAR);
    data = mkdtempSync(join(tmpdir(), 'gateway-dead-letters-'));
    spool = join(data, 'spool');
  });
  afterEach(async () => {
    rmSync(data, { recursive: true, force: true });
    await db.close();
  });

  const deadLetters = (args: string[] = [], env: Record<string, string> = {}) =>
    runCommand('dead-letters', args, { DATA_DIR: data, DATABASE_URL: db.url, ...env });
  const balance = async (): Promise<string> =>
    (await db.pool.query('select balance::text as b from accounts where id = $1', [payer.accountId])).rows[0]
      .b;

  test('reports that there are no dead letters', async () => {
    const { code, output } = await deadLetters();
    expect(output).toContain('no dead letters in');
    expect(code).toBe(0);
  });

  test('lists each event with its reason, and charges none', async () => {
    const record = recordOf(payer);
    await setAside(spool, record, 'numeric field overflow');
    await setAside(spool, record, 'no partition');
    const { code, output } = await deadLetters();
    expect(output).toMatch(`${record.id}  `);
    expect(output).toMatch(`account ${payer.accountId}  gateway/fast  $0.00025`);
    expect(output).toContain('no partition\n1 event rejected by the database');
    expect(code).toBe(1);
    expect(await balance()).toBe('1.000000000000');
  });

  test('charges events once the cause is gone, as of the time of their calls, and keeps those refused again', async () => {
    const createdAt = Date.UTC(2026, 1, 3, 4, 5, 6);
    const good = [recordOf(payer, { createdAt }), recordOf(payer)];
    const stranger = recordOf({ accountId: newId(), keyId: newId() });
    const odd = recordOf(payer, { inputTokens: -1, cost: 0n });
    for (const record of [...good, stranger, odd]) await setAside(spool, record, 'x');

    const first = await deadLetters(['--retake']);
    expect(first.output).toContain('2 events are recorded, 2 rejected again');
    expect(first.output).toContain('the account does not exist');
    expect(first.output).toContain('calls_input_tokens_check');
    expect(first.code).toBe(1);
    expect(await balance()).toBe('0.999500000000');
    const days = await db.pool.query('select day::text from key_spend_days order by day limit 1');
    expect(days.rows).toEqual([{ day: '2026-02-03' }]);
    expect((await listDeadLetters(spool)).map(({ record }) => record)).toEqual([stranger, odd]);

    // The file of a charged event exists again, as after a crash before its removal.
    await setAside(spool, good[0]!, 'x');
    expect((await deadLetters(['--retake'])).output).toContain('1 event is recorded, 2 rejected again');
    expect(await balance()).toBe('0.999500000000');
    expect(await checkInvariants(db.pool)).toEqual([]);
  });

  test('keeps every dead letter while the database is unavailable, and reports the error', async () => {
    await setAside(spool, recordOf(payer), 'x');
    const { code, output } = await deadLetters(['--retake'], {
      DATABASE_URL: 'postgres://u:secret@127.0.0.1:9/none',
    });
    expect(output).toMatch(/^dead-letters: /);
    expect(output).not.toContain('secret');
    expect(code).toBe(2);
    expect(readdirSync(join(spool, 'dead-letters'))).toHaveLength(1);
  });

  test('refuses unknown options', async () => {
    expect((await deadLetters(['--all'])).code).toBe(2);
  });
});
