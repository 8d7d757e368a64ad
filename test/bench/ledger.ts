import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { type EmbeddedPostgres, ensureDatabase } from '../../src/db/embedded.js';
import { createEnvelope, sha256 } from '../../src/lib/crypto.js';
import { newId } from '../../src/lib/ids.js';
import { newApiKey, shownParts } from '../../src/lib/key-form.js';
import { checkInvariants } from '../support/invariants.js';
import { prepareDatabase } from '../support/prepared-database.js';

const random = (): string => randomBytes(32).toString('base64url');

/** New for each run, because the edge runs as in production and refuses weak secrets. */
export const SECRETS = {
  JWT_SECRET: random(),
  ENCRYPTION_KEY: random(),
  WEBHOOK_SECRET: random(),
  UPSTREAM_MASTER_KEY: random(),
};

const ACCOUNTS = 300;
/** Far above what one account does here: every check runs, and none refuses. */
const REQUESTS_PER_MINUTE = 20_000;
const BALANCE = '100000';
const DAILY_LIMIT = '50000';

export interface BenchKey {
  accountId: string;
  key: string;
}

/** The database of one target, with its accounts, usage and money. */
export interface Ledger {
  url: string;
  pool: pg.Pool;
  keys: BenchKey[];
  /** Gives every key this virtual key. */
  seal(virtualKey: string): Promise<void>;
  /** Ids of usage rows, and how many of them are successes with the upstream's own counts. */
  events(): Promise<{ ids: Set<string>; exact: number }>;
  /** Violated invariants of the money; empty when all hold. */
  violations(): Promise<string[]>;
  close(): Promise<void>;
}

/** Pid of the server. */
export async function postmaster(ledger: Ledger): Promise<number> {
  const { rows } = await ledger.pool.query<{ folder: string }>('show data_directory');
  const folder = Object.values(rows[0]!)[0]!;
  return Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
}

/** With `dist` the schema is that of another build. */
export async function createLedger(server: EmbeddedPostgres, name: string, dist?: string): Promise<Ledger> {
  if (dist === undefined) await prepareDatabase(server, name);
  else await prepareAsBuild(dist, server, name);
  const url = server.url(name);
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on('error', () => undefined);
  await pool.query(
    `insert into plans (id, monthly_price_usd, included_credits_usd, allowed_models, requests_per_minute, position)
     select 'bench', 0, 0, allowed_models, $1, 99 from plans where id = 'team'`,
    [REQUESTS_PER_MINUTE],
  );
  const keys: BenchKey[] = [];
  for (let i = 0; i < ACCOUNTS; i++) keys.push(await insertKey(pool));
  const envelope = createEnvelope('virtual-key', SECRETS.ENCRYPTION_KEY);
  return {
    url,
    pool,
    keys,
    async seal(virtualKey) {
      const { rows } = await pool.query<{ id: string }>('select id from api_keys');
      for (const { id } of rows) {
        const sealed = envelope.seal(virtualKey, `api_key:${id}:virtual_key`);
        await pool.query('update api_keys set virtual_key_sealed = $2 where id = $1', [id, sealed]);
      }
    },
    async events() {
      const { rows } = await pool.query<{ id: string; exact: boolean }>(
        `select id, status = 'success' and not estimated and not anomalous and input_tokens = 40
           and output_tokens = 100 as exact from usage_events`,
      );
      const exact = rows.filter((row) => row.exact).length;
      return { ids: new Set(rows.map(({ id }) => id)), exact };
    },
    async violations() {
      // The invariants are this build's, since an upgrade must keep the books correct.
      if (dist !== undefined) await prepareDatabase(server, name);
      return checkInvariants(pool);
    },
    close: () => pool.end(),
  };
}

async function prepareAsBuild(dist: string, server: EmbeddedPostgres, name: string): Promise<void> {
  const load = (path: string) => import(pathToFileURL(join(resolve(dist), path)).href);
  const [{ openOrm }, { migrate }, { seedCatalog }] = await Promise.all(
    ['db/orm.js', 'db/migrate.js', 'db/seed.js'].map(load),
  );
  await ensureDatabase(server, name);
  // Older builds open it asynchronously.
  const orm = await openOrm({ databaseUrl: server.url(name), processName: 'bench-setup' });
  await migrate(orm, (em: unknown) => seedCatalog(em));
  await orm.close();
}

async function insertKey(pool: pg.Pool): Promise<BenchKey> {
  const accountId = newId();
  const key = newApiKey();
  const { prefix, lastFour } = shownParts(key);
  await pool.query(
    `insert into accounts (id, email, email_key, name, plan_id, balance, ledger_seq, created_at)
     values ($1, $2, $2, 'Bench', 'bench', $3, 1, now())`,
    [accountId, `${accountId}@example.com`, BALANCE],
  );
  await pool.query(
    `insert into ledger_entries (id, account_id, seq, kind, amount, balance_after, created_at)
     values ($1, $2, 1, 'starter', $3, $3, now())`,
    [newId(), accountId, BALANCE],
  );
  await pool.query(
    `insert into api_keys (id, account_id, name, key_prefix, last_four, key_hash, status, daily_limit_usd, created_at)
     values ($1, $2, 'bench', $3, $4, $5, 'active', $6, now())`,
    [newId(), accountId, prefix, lastFour, sha256(key), DAILY_LIMIT],
  );
  return { accountId, key };
}
