import { performance } from 'node:perf_hooks';
import type { MikroORM } from '@mikro-orm/postgresql';
import type pg from 'pg';
import { localContext } from '../../../src/context.js';
import { createLogger } from '../../../src/lib/logger.js';
import { rollUpUsage } from '../../../src/services/analytics/rollups.service.js';
import { runAudit } from '../../../src/services/audit/audit.service.js';
import { removeOldRollups, removeOldUsage } from '../../../src/services/retention/retention.service.js';
import { call } from '../../support/api.js';
import type { TestDatabase } from '../../support/database.js';
import { startTestPlatform } from '../../support/platform.js';
import { cpuMicros, family } from '../machine.js';
import { BENCH_PASSWORD } from './accounts.js';
import { openSubject } from './subjects.js';

/** What a job cost. */
export interface JobCost {
  name: string;
  seconds: number;
  /** Of all processes of the database, in seconds. */
  cpuSeconds: number;
  temporaryBytes: number;
}

const MONTHS_KEPT = 12;

/** Runs the jobs that grow with the data. The last ones remove some of it. */
export async function measureJobs({
  url,
  orm,
  pool,
  serverPid,
}: {
  url: string;
  orm: MikroORM;
  pool: pg.Pool;
  serverPid: number;
}): Promise<JobCost[]> {
  const context = () =>
    localContext({ em: orm.em.fork(), log: createLogger('bench', 'silent'), network: 'bench' });
  const costs: JobCost[] = [];
  const measure = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const before = {
      at: performance.now(),
      cpu: cpuMicros(family(serverPid)),
      bytes: await temporaryBytes(pool),
    };
    await work();
    costs.push({
      name,
      seconds: (performance.now() - before.at) / 1e3,
      cpuSeconds: (cpuMicros(family(serverPid)) - before.cpu) / 1e6,
      temporaryBytes: (await temporaryBytes(pool)) - before.bytes,
    });
  };
  // Hours that ended since the filling would count with the first.
  await rollUpUsage(context());
  await pool.query(
    'insert into rollup_dirty select hour from account_usage_hours group by 1 order by sum(events) desc limit 1',
  );
  await measure('roll-up of the busiest hour', () => rollUpUsage(context()));
  await measure('audit', async () => {
    const violated = (await runAudit(context())).filter(({ violations }) => violations > 0);
    if (violated.length > 0)
      throw new Error(`violated: ${violated.map(({ invariant }) => invariant.name).join(', ')}`);
  });
  await measure('retention, usage beyond 12 months (a few days)', () =>
    removeOldUsage(context(), { months: MONTHS_KEPT }),
  );
  await measure('retention, their roll-ups', () => removeOldRollups(context(), { months: MONTHS_KEPT }));
  const platform = await startTestPlatform({ url, orm } as TestDatabase);
  try {
    const { token } = await openSubject(platform.url, pool, 'biggest');
    await measure('deletion of the biggest account', async () => {
      const answer = await call(platform.url, 'DELETE', '/api/auth/me', {
        token,
        body: { password: BENCH_PASSWORD },
      });
      if (answer.status !== 204) throw new Error(`answered ${answer.status}: ${answer.text}`);
    });
  } finally {
    await platform.close();
  }
  return costs;
}

async function temporaryBytes(pool: pg.Pool): Promise<number> {
  // Sessions report what they used when they are idle, or at the latest when they ask.
  const { rows } = await pool.query<{ bytes: string }>(
    'select temp_bytes::text as bytes from pg_stat_database where datname = current_database()',
  );
  return Number(rows[0]!.bytes);
}

export const renderJobs = (costs: readonly JobCost[]): string =>
  [
    '| job | seconds | CPU seconds | temporary files |',
    '|---|---|---|---|',
    ...costs.map(
      ({ name, seconds, cpuSeconds, temporaryBytes: bytes }) =>
        `| ${name} | ${seconds.toFixed(1)} | ${cpuSeconds.toFixed(1)} | ${bytes === 0 ? 'none' : `${(bytes / 1e6).toFixed(0)} MB`} |`,
    ),
  ].join('\n');
