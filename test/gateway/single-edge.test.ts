import { Writable } from 'node:stream';
import pg from 'pg';
import { pino } from 'pino';
import { advisoryLocks } from '../../src/db/locks.js';
import { holdEdgeLock } from '../../src/gateway/single-edge.js';
import { createTestDatabase } from '../support/database.js';
import { until } from '../support/until.js';

test('an edge that loses its lock says so once, and once when it has it again', async () => {
  const db = await createTestDatabase();
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)).msg);
      done();
    },
  });
  const lock = await holdEdgeLock(db.url, pino(sink));
  const rival = new pg.Client({ connectionString: db.url });
  await rival.connect();
  const attempts = async () =>
    (
      await rival.query(
        `select 1 from pg_stat_activity where application_name = 'gateway-edge-lock' and datname = current_database()`,
      )
    ).rowCount;
  try {
    await rival.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'gateway-edge-lock' and datname = current_database()`,
    );
    await rival.query('select pg_advisory_lock($1)', [advisoryLocks.singleEdge]);
    // Two attempts that fail, a second apart.
    for (let i = 0; i < 2; i++) {
      await until(async () => (await attempts()) === 1, { intervalMs: 1 });
      await until(async () => (await attempts()) === 0, { intervalMs: 1 });
    }
    expect(lines).toEqual(['the lock of the one edge is not ours at the moment']);
    await rival.query('select pg_advisory_unlock($1)', [advisoryLocks.singleEdge]);
    await until(() => lines.length > 1);
    expect(lines[1]).toBe('the lock of the one edge is ours again');
  } finally {
    await lock.release();
    await rival.end();
    await db.close();
  }
});
