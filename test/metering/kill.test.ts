import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DOLLAR } from '../../src/lib/money.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { checkInvariants } from '../support/invariants.js';
import { sized } from '../support/size.js';
import { createPayer, openMeter, temporaryFolder } from './support.js';

const KILLS = sized(4, 10);
const child = fileURLToPath(new URL('./kill-child.js', import.meta.url));

describe('a process that is killed while it records', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.close());

  test('no acknowledged event is lost, and none is charged twice', async () => {
    const folder = temporaryFolder();
    const payer = await createPayer(db.pool, 1_000n * DOLLAR);
    const acknowledged: string[] = [];
    for (let round = 0; round < KILLS; round++) {
      const victim = spawn(
        process.execPath,
        ['--no-warnings', child, folder.path, db.url, payer.accountId, payer.keyId],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      let output = '';
      victim.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
      const closed = once(victim, 'close');
      await Promise.race([once(victim.stdout, 'data'), closed]);
      expect(victim.exitCode).toBeNull();
      // A random moment for the kill, not a wait for a condition.
      await delay(Math.random() * 300);
      victim.kill('SIGKILL');
      await closed;
      acknowledged.push(...output.split('\n').slice(0, -1));
    }
    expect(acknowledged.length).toBeGreaterThan(KILLS * 20);

    const { meter } = await openMeter(folder.path, db.pool, { patienceMs: 25_000 });
    const { rows } = await db.pool.query<{ id: string; status: string; error_code: string | null }>(
      'select id::text, status, error_code from usage_events',
    );
    const successes = new Set(rows.filter((row) => row.status === 'success').map((row) => row.id));
    expect(acknowledged.filter((id) => !successes.has(id))).toEqual([]);
    // A kill can leave only one turn's calls written but not yet acknowledged.
    expect(successes.size - acknowledged.length).toBeLessThanOrEqual(KILLS * 20);
    for (const row of rows.filter((other) => other.status === 'error')) {
      expect(row.error_code).toBe('gateway_terminated');
    }
    expect(await checkInvariants(db.pool)).toEqual([]);
    await meter.stop();
    expect(readdirSync(folder.path)).toEqual([]);
    folder.remove();
  }, 90_000);
});
