import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { type Config, loadConfig } from '../../src/config.js';
import { pgPool } from '../../src/db/connection.js';
import { createEdge, type Edge, type EdgeDeps } from '../../src/gateway/app.js';
import type { ResourceLimits } from '../../src/gateway/resource-limits.js';
import { openModelProxy } from '../../src/inference/model-proxy.js';
import { type Clock, systemClock } from '../../src/lib/clock.js';
import { createEnvelope, sha256 } from '../../src/lib/crypto.js';
import { newId } from '../../src/lib/ids.js';
import { JsonReader } from '../../src/lib/json-reader.js';
import { newApiKey, shownParts } from '../../src/lib/key-form.js';
import { createLogger, type Logger } from '../../src/lib/logger.js';
import { WorkerThread } from '../../src/lib/worker-thread.js';
import { createMeter } from '../../src/metering/meter.js';
import type { Meter } from '../../src/metering/usage-record.js';
import type { TestDatabase } from './database.js';
import { TEST_SECRETS } from './secrets.js';
import { until } from './until.js';

export interface TestEdge {
  url: string;
  edge: Edge;
  config: Config;
  registry: Registry;
  /** Waits until every recorded call is committed. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface TestEdgeOptions {
  /** A model proxy; without one, `models`. */
  upstreamUrl?: string | undefined;
  /** A router in this process, which the test closes. */
  models?: Pick<EdgeDeps, 'upstream' | 'routes'> | undefined;
  platformUrl?: string;
  env?: Record<string, string>;
  clock?: Clock;
  masterKey?: string;
  bounds?: Partial<ResourceLimits>;
  patience?: EdgeDeps['limitTimeouts'];
  log?: Logger;
  lock?: EdgeDeps['lock'];
  /** An existing DATA_DIR; closing the edge removes it. */
  directory?: string;
}

/** Starts a real edge on a free port, with a real database and the test's upstream. */
export async function startTestEdge(db: TestDatabase, options: TestEdgeOptions): Promise<TestEdge> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'gateway-edge-'));
  const config = loadConfig(
    {
      NODE_ENV: 'test',
      PORT: '0',
      DATA_DIR: directory,
      DATABASE_URL: db.url,
      PLATFORM_URL: options.platformUrl ?? 'http://127.0.0.1:9',
      ...(options.upstreamUrl !== undefined && { UPSTREAM_URL: options.upstreamUrl }),
      LOG_LEVEL: 'silent',
      ...TEST_SECRETS,
      ...(options.masterKey ? { UPSTREAM_MASTER_KEY: options.masterKey } : {}),
      ...options.env,
    },
    'edge',
  );
  const log = options.log ?? createLogger('edge', config.logLevel);
  const registry = new Registry();
  const pool = await pgPool(db.sql);
  let meter: Meter | undefined;
  const proxy = options.models ? undefined : openModelProxy(config.upstreamUrl!, config.upstreamMasterKey);
  await proxy?.routes.ready;
  const { upstream, routes } = options.models ?? proxy!;
  const json = new JsonReader(new WorkerThread(log));
  const edge = await createEdge({
    config,
    upstream,
    routes,
    pool,
    clock: options.clock ?? systemClock,
    log,
    registry,
    json,
    // A stop would wait for connections that tests just used.
    bounds: { restMs: 0, ...options.bounds },
    limitTimeouts: options.patience,
    lock: options.lock,
    async createMeter(onFlushed, identity) {
      const made = await createMeter({
        ...identity,
        directory: join(directory, 'spool'),
        pool,
        log,
        registry,
        clock: options.clock ?? systemClock,
        onFlushed,
      });
      meter = made;
      return made;
    },
  });
  const url = await edge.listen();
  // If Redis is late, as on a busy machine, an edge starts without it.
  if (config.redisUrl) {
    const shared = registry.getSingleMetric('gateway_limits_shared')!;
    await until(async () => (await shared.get()).values[0]!.value === 1, { what: 'limits to be shared' });
  }
  return {
    url,
    edge,
    config,
    registry,
    settled: async () => {
      await until(() => meter!.drain(5_000), { what: 'the spool to be empty' });
    },
    async close() {
      await edge.close(2_000);
      await json.close();
      await proxy?.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export interface TestKey {
  accountId: string;
  keyId: string;
  /** The secret. */
  key: string;
}

export interface TestKeyOptions {
  plan?: string;
  /** Dollars. */
  balance?: string;
  dailyLimit?: string | null;
  status?: 'active' | 'disabled';
  /** Null: a key without an upstream virtual key. */
  virtualKey?: string | null;
  accountId?: string;
}

/** Creates an account with a key like the platform, with the balance in the ledger. */
export async function createTestKey(
  db: Pick<TestDatabase, 'pool'>,
  options: TestKeyOptions = {},
): Promise<TestKey> {
  const accountId = options.accountId ?? newId();
  const keyId = newId();
  const key = newApiKey();
  const { prefix, lastFour } = shownParts(key);
  if (!options.accountId) {
    const balance = options.balance ?? '1';
    await db.pool.query(
      `insert into accounts (id, email, email_key, name, plan_id, balance, ledger_seq, created_at)
       values ($1, $2, $2, 'Test', $3, $4, 1, now())`,
      [accountId, `${accountId}@example.com`, options.plan ?? 'team', balance],
    );
    await db.pool.query(
      `insert into ledger_entries (id, account_id, seq, kind, amount, balance_after, created_at)
       values ($1, $2, 1, 'starter', $3, $3, now())`,
      [newId(), accountId, balance],
    );
  }
  const virtualKey = options.virtualKey === undefined ? 'sk-virtual-of-the-tests' : options.virtualKey;
  const sealed =
    virtualKey === null
      ? null
      : createEnvelope('virtual-key', TEST_SECRETS.ENCRYPTION_KEY).seal(
          virtualKey,
          `api_key:${keyId}:virtual_key`,
        );
  await db.pool.query(
    `insert into api_keys (id, account_id, name, key_prefix, last_four, key_hash, status, daily_limit_usd,
       virtual_key_sealed, created_at) values ($1, $2, 'test', $3, $4, $5, $6, $7, $8, now())`,
    [
      keyId,
      accountId,
      prefix,
      lastFour,
      sha256(key),
      options.status ?? 'active',
      options.dailyLimit ?? null,
      sealed,
    ],
  );
  return { accountId, keyId, key };
}

/** A chat call as plain HTTP. */
export function postChat(
  url: string,
  key: string,
  body: unknown = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  const full =
    typeof body === 'string' || body instanceof Buffer
      ? body
      : JSON.stringify({
          model: 'gateway/fast',
          messages: [{ role: 'user', content: 'Hi' }],
          ...(body as object),
        });
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: full as string,
  });
}

/** The error of an answer. */
export async function errorOf(
  response: Response,
): Promise<{ message: string; type: string; param: string | null; code: string }> {
  return (
    (await response.json()) as {
      error: { message: string; type: string; param: string | null; code: string };
    }
  ).error;
}

export interface UsageRow {
  id: string;
  key_id: string;
  requested_model: string;
  served_model: string;
  endpoint: string;
  stream: boolean;
  input_tokens: number;
  output_tokens: number;
  cost: string;
  status: string;
  error_code: string | null;
  error_message: string | null;
  http_status: number;
  client_aborted: boolean;
  estimated: boolean;
  anomalous: boolean;
  ttft_ms: number | null;
}

/** The usage events of an account, oldest first. */
export async function usageOf(db: TestDatabase, accountId: string): Promise<UsageRow[]> {
  const result = await db.pool.query<UsageRow>(
    `select id, key_id, requested_model, served_model, endpoint, stream, input_tokens, output_tokens, cost::text, status,
       error_code, error_message, http_status, client_aborted, estimated, anomalous, ttft_ms
     from usage_events where account_id = $1 order by created_at, id`,
    [accountId],
  );
  return result.rows;
}

export async function balanceOf(db: TestDatabase, accountId: string): Promise<string> {
  const result = await db.pool.query<{ balance: string }>(
    'select balance::text from accounts where id = $1',
    [accountId],
  );
  return result.rows[0]!.balance;
}
