import { chmodSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { openOrm } from '../../../src/db/orm.js';
import { systemClock } from '../../../src/lib/clock.js';
import { testConfig } from '../../support/platform.js';
import { startCluster } from './cluster.js';
import { fillDatabase } from './fill.js';
import { measureJobs, renderJobs } from './jobs.js';
import { measureScreens } from './screens.js';
import { renderAll, renderShort, writeDocument } from './table.js';

/**
 * `npm run bench:data [-- --events 20000000] [-- --accounts 5000] [-- --days 396] [-- --keep <folder>] [-- --write]`: fills a
 * PostgreSQL of its own with 13 months of use, runs every query of the dashboard and every GET of the API over it, and
 * prints what each costs the database. `--keep` keeps the filled folder, and uses it again if it is filled.
 * `--only-fill` measures nothing. `--jobs` also runs the jobs that grow with the data; they remove some of it.
 */
const { values: options } = parseArgs({
  options: {
    events: { type: 'string', default: '20000000' },
    accounts: { type: 'string', default: '5000' },
    days: { type: 'string', default: '396' },
    keep: { type: 'string' },
    write: { type: 'boolean', default: false },
    jobs: { type: 'boolean', default: false },
    'only-fill': { type: 'boolean', default: false },
  },
});

const began = Date.now();
const say = (line: string): void =>
  void process.stdout.write(`${((Date.now() - began) / 1000).toFixed(0).padStart(5)} s  ${line}\n`);

const folder = options.keep ? resolve(options.keep) : mkdtempSync(join(tmpdir(), 'gateway-bench-data-'));
mkdirSync(folder, { recursive: true });
chmodSync(folder, 0o755);
const cluster = await startCluster(folder, options.keep !== undefined);
const orm = openOrm({ databaseUrl: cluster.url, processName: 'bench', poolSize: 8 });
const pool = new pg.Pool({ connectionString: cluster.url, max: 2 });
try {
  if (!cluster.filled) {
    await fillDatabase({
      orm,
      url: cluster.url,
      config: testConfig(cluster.url),
      size: {
        events: Number(options.events),
        accounts: Number(options.accounts),
        days: Number(options.days),
      },
      now: systemClock.now(),
      say,
    });
  }
  say('filled');
  if (!options['only-fill']) {
    await pool.query('alter database gateway set max_parallel_workers_per_gather = 0');
    const measured = await measureScreens(cluster.url);
    process.stdout.write(`\n${renderAll(measured)}\n\n`);
    const screens = renderShort(measured, await sizeOf(pool));
    const jobs = options.jobs
      ? await measureJobs({ url: cluster.url, orm, pool, serverPid: cluster.pid })
      : undefined;
    const text = jobs ? `${screens}\n\n${renderJobs(jobs)}` : screens;
    process.stdout.write(`${text}\n`);
    if (options.write) writeDocument(text);
  }
} finally {
  await pool.end();
  await orm.close(true);
  await cluster.stop();
}
process.exit(0);

async function sizeOf(of: pg.Pool): Promise<string> {
  const { rows } = await of.query<{ events: string; days: string; accounts: string; size: string }>(
    `select sum(events)::text as events, ceil(extract(epoch from max(hour) - min(hour)) / 86400)::text as days,
       (select count(*) from accounts)::text as accounts, pg_size_pretty(pg_database_size(current_database())) as size
     from account_usage_hours`,
  );
  const { events, days, accounts, size } = rows[0]!;
  const count = (text: string): string => Number(text).toLocaleString('en');
  return `${count(events)} calls of ${count(accounts)} accounts within ${days} days, ${size}.`;
}
