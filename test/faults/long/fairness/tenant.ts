import { openOrm } from '../../../../src/db/orm.js';
import { rollUpUsage } from '../../../../src/services/analytics/rollups.service.js';
import { contextOf } from '../../../billing/fixtures.js';
import { makeUsageInsertable } from '../../../support/insertable-usage.js';
import type { Rig } from '../../rig/rig.js';
import { addressIn, newAccount, newKey } from './accounts.js';
import type { Tenant } from './messages.js';

const BLOCK = 30;
/** Time over which the calls are spread; the newest is an hour old. */
const HOURS = 400;
const RARE_EVENTS = 20;

/** An account with so many calls, all of them free, and a key that made twenty; their hours are rolled up. */
export async function largeTenantOf(rig: Rig, events: number): Promise<Tenant> {
  const account = await newAccount(rig.url, addressIn(BLOCK, 0));
  const rare = await newKey(rig.url, account);
  const { pool, url } = rig.postgres;
  await makeUsageInsertable(pool);
  for (const [keyId, count] of [
    [account.keyId, events],
    [rare.keyId, RARE_EVENTS],
  ] as const) {
    await pool.query(
      `insert into usage_events (id, created_at, account_id, key_id, requested_model, served_model, endpoint, stream,
         input_tokens, output_tokens, price_in, price_out, cost, latency_ms, status, http_status)
       select gen_random_uuid(), now() - make_interval(secs => 3600 * (1 + (n % $4)) + n % 3599), $1, $2,
         'gateway/fast', 'gateway/fast', 'chat', false, 0, 0, 0.1, 0.3, 0, 100 + n % 900, 'success', 200
       from generate_series(1, $3::int) n`,
      [account.accountId, keyId, count, HOURS],
    );
  }
  await pool.query(
    `with hours as (
       insert into account_usage_hours (account_id, hour, events)
       select account_id, date_trunc('hour', created_at, 'UTC'), count(*) from usage_events where account_id = $1
       group by 1, 2 returning hour)
     insert into rollup_dirty select hour from hours on conflict do nothing`,
    [account.accountId],
  );
  await pool.query('analyze calls, account_usage_hours');
  const orm = openOrm({ databaseUrl: url, processName: 'seed' });
  try {
    await rollUpUsage(contextOf({ orm }, account.accountId));
  } finally {
    await orm.close(true);
  }
  await pool.query('vacuum analyze calls, usage_rollups');
  return { ...account, rareKeyId: rare.keyId };
}
