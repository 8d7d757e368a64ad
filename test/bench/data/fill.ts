import type { MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import type { Config } from '../../../src/config.js';
import { localContext } from '../../../src/context.js';
import { DAY_MS, monthStart } from '../../../src/lib/clock.js';
import { createLogger } from '../../../src/lib/logger.js';
import { createPasswords } from '../../../src/services/accounts/passwords.js';
import { rollUpUsage } from '../../../src/services/analytics/rollups.service.js';
import type { ServiceDeps } from '../../../src/services/deps.js';
import { createEnvelopes } from '../../../src/services/envelopes.js';
import { BENCH_PASSWORD, fillAccounts } from './accounts.js';
import { fillAlerts } from './alerts.js';
import { makeCalls, type Period } from './calls.js';
import { fillNodes } from './nodes.js';
import { fillPlayground } from './playground.js';
import { addMonth, creditStarters, writeUsage } from './usage-rows.js';
import { writeSums } from './usage-sums.js';
import { fillWorks } from './works.js';

/** Audit rows per usage event: 900,000 beside 20 million. */
const ACTIONS_PER_EVENT = 0.045;

export interface DataSize {
  events: number;
  accounts: number;
  /** How long the installation has been in use. */
  days: number;
}

/** What the parts of the data share. */
export interface Filling {
  client: pg.ClientBase;
  size: DataSize;
  envelopes: ServiceDeps['envelopes'];
  passwordHash: string;
  from: Date;
  now: Date;
  whose: 'all' | 'others';
}

export interface FillOptions {
  orm: MikroORM;
  url: string;
  config: Config;
  size: DataSize;
  now: number;
  /** `others`: more accounts in a database that is filled already, none of which operations run as. */
  whose?: 'all' | 'others';
  say?(line: string): void;
}

/**
 * Fills a migrated and seeded database with the use of many accounts, by SQL over whole sets, as the product would have
 * written it. The product itself rolls up the hours.
 */
export async function fillDatabase({
  orm,
  url,
  config,
  size,
  now,
  whose = 'all',
  say = () => undefined,
}: FillOptions): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(
      `set work_mem = '256MB'; set maintenance_work_mem = '512MB'; set synchronous_commit = off; set jit = off`,
    );
    const filling: Filling = {
      client,
      size,
      envelopes: createEnvelopes(config),
      passwordHash: await createPasswords(config.passwordHashing).hash(BENCH_PASSWORD),
      from: new Date(now - size.days * DAY_MS),
      now: new Date(now),
      whose,
    };
    await fillAccounts(filling);
    await fillWorks(filling);
    await fillNodes(filling);
    await creditStarters(client, filling.from);
    for (const period of periods(filling)) {
      await addMonth(orm.em.fork(), period.from);
      await makeCalls(client, period);
      await writeUsage(client, period.from);
      await writeSums(client);
      await client.query('analyze');
      say(`calls until ${period.until.toISOString()}`);
      await rollUpUsage({
        ...localContext({ em: orm.em.fork(), log: createLogger('bench', 'silent'), network: 'bench' }),
        clock: { now: () => now },
      });
      say('rolled up');
    }
    await fillAlerts(filling);
    await fillPlayground(filling);
    await fillActions(filling);
    await client.query('drop table bench_accounts, bench_nodes, bench_calls');
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}

/** The calendar months from the first moment until now; the first and the last one are parts. */
function periods({ from, now }: Filling): Period[] {
  const bounds = [now];
  for (let nth = 0; monthStart(now.getTime(), nth) > from; nth--)
    bounds.unshift(monthStart(now.getTime(), nth));
  bounds.unshift(from);
  const whole = now.getTime() - from.getTime();
  return bounds.slice(1).map((until, i) => {
    const begin = bounds[i]!;
    return { from: begin, until, share: (until.getTime() - begin.getTime()) / whole };
  });
}

/** What administrators did. */
async function fillActions({ client, size, from, now }: Filling): Promise<void> {
  await client.query(
    `insert into admin_actions (id, actor_id, source, action, subject_id, before, after, reason, created_at)
     select uuidv7(at - clock_timestamp()), case when n % 100 > 0 then (select id from accounts where role = 'admin' limit 1) end,
       case when n % 100 > 0 then 'session' else 'command_line' end,
       case when n % 3 > 0 then 'account.update' else 'node.update' end,
       case when n % 3 > 0 then (select id from bench_accounts where nth = 1 + n % $4::int)
         else (select ids[1 + n % cardinality(ids)] from bench_nodes offset n % 6 limit 1) end,
       '{"plan": "free"}', '{"plan": "pro"}', 'Reason ' || n, at
     from generate_series(1, $3::int) n
       cross join lateral (select $1::timestamptz + ($2::timestamptz - $1::timestamptz) * (n / $3::float8) as at) t`,
    [from, now, Math.ceil(size.events * ACTIONS_PER_EVENT), size.accounts],
  );
}
