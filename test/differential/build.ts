import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { newId } from '../../src/lib/ids.js';
import { call, PASSWORD, type SessionAnswer, signUp } from '../support/api.js';
import { metricOf } from '../support/metric.js';
import { createProduct } from '../support/product.js';
import { freePorts } from '../support/product-edges.js';
import { TEST_SECRETS } from '../support/secrets.js';
import { until } from '../support/until.js';
import { type Nodes, type Script, startNodes } from './node.js';

/** What a scenario requires of its account. */
export interface Needs {
  plan?: string;
  /** Dollars. */
  balance?: string;
  /** Members of `PATCH /api/keys/{id}`. */
  key?: Record<string, unknown>;
  /** Whether the key has lost its virtual key. */
  unconfigured?: boolean;
  /** Members of `POST /api/widgets`. */
  widget?: Record<string, unknown>;
}

/** Replacements of `{key}`, `{token}` and `{widget}` in requests of a scenario, and the account's id. */
export interface Account {
  id: string;
  secrets: Record<string, string>;
}

/** Deployments by the number of their group's, and what the file says of the router. */
export interface Arrangement {
  deployments: Record<string, { group: string; dead?: boolean; params?: Record<string, unknown> }>;
  router: Record<string, unknown>;
}

/** A running build: `npm start` in its checkout, with its own database, data folder and nodes. */
export interface Build {
  url: string;
  pool: pg.Pool;
  nodes: Nodes;
  account(needs: Needs): Promise<Account>;
  /** Waits until every answered call is committed. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

const ENV = {
  ...TEST_SECRETS,
  RESPONSES_API: '1',
  DISABLE_BACKGROUND_TASKS: '1',
  SIGNUPS_PER_NETWORK_PER_DAY: '1000000',
  UPSTREAM_IDLE_SECONDS: '10',
  LOG_LEVEL: 'error',
};
const ADMIN = { email: 'differential@example.com', password: PASSWORD };
const METRICS_PORTS = 4;
/** A port on which nobody listens. */
const DEAD_PORT = 1;

/** Starts the build of a checkout. */
export async function startBuild(
  checkout: string,
  { deployments, router }: Arrangement,
  scriptOf: (name: string | undefined, body: string) => Script,
): Promise<Build> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-differential-'));
  const nodes = await startNodes(Object.keys(deployments), scriptOf);
  const routing = {
    model_list: Object.entries(deployments).map(([id, { group, dead, params }]) => ({
      model_name: group,
      litellm_params: {
        model: 'openai/of-the-node',
        api_base: `http://127.0.0.1:${dead ? DEAD_PORT : nodes.ports[id]}/v1`,
        api_key: `secret-of-${id}`,
        input_cost_per_token: 0,
        output_cost_per_token: 0,
        ...params,
      },
      model_info: { id },
    })),
    router_settings: router,
  };
  // JSON is YAML.
  writeFileSync(join(folder, 'routing.yaml'), JSON.stringify(routing));
  // The first of the processes' metrics ports.
  const [metricsPort] = await freePorts(METRICS_PORTS);
  const product = await createProduct(
    {
      ...ENV,
      ADMIN_EMAIL: ADMIN.email,
      ADMIN_PASSWORD: ADMIN.password,
      METRICS_PORT: String(metricsPort),
      PROXY_CONFIG: join(folder, 'routing.yaml'),
    },
    checkout,
  );
  await product.start();
  const { url } = product;
  const pool = new pg.Pool({ connectionString: product.databaseUrl(), max: 4 });
  pool.on('error', () => undefined);
  const api = async <T>(token: string, method: string, path: string, body: unknown): Promise<T> => {
    const answer = await call<T>(url, method, path, { token, body });
    if (answer.status > 299) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    return answer.body;
  };
  const admin = (await api<SessionAnswer>('', 'POST', '/api/auth/login', ADMIN)).access_token;

  return {
    url,
    pool,
    nodes,
    async account({ plan = 'team', balance = '1000', key, unconfigured, widget }) {
      const { token, user } = await signUp(url);
      await api(admin, 'PATCH', `/api/admin/users/${user.id}`, { plan });
      await setBalance(pool, user.id, balance);
      const made = await api<{ key: string; api_key: { id: string } }>(token, 'POST', '/api/keys', {
        name: 'k',
      });
      const { id } = made.api_key;
      if (key) await api(token, 'PATCH', `/api/keys/${id}`, key);
      if (unconfigured) await pool.query('update api_keys set virtual_key_sealed = null where id = $1', [id]);
      const chat = {
        name: 'Help',
        model_public_name: 'gateway/fast',
        rate_limit_per_minute: 1_000,
        ...widget,
      };
      const public_key =
        widget && (await api<{ public_key: string }>(token, 'POST', '/api/widgets', chat)).public_key;
      return { id: user.id, secrets: { key: made.key, token, ...(public_key && { widget: public_key }) } };
    },
    async settled() {
      const metrics = `http://127.0.0.1:${metricsPort}/metrics`;
      const written = async (): Promise<number> =>
        Number((await pool.query<{ n: string }>('select count(*) as n from usage_events')).rows[0]!.n);
      let before = -1;
      // Calls whose client left are recorded a moment later.
      await until(
        async () => {
          const [spooled, now] = [await metricOf(metrics, 'metering_spool_events'), await written()];
          const isQuiet = spooled === 0 && now === before;
          before = now;
          return isQuiet;
        },
        { intervalMs: 2_500, what: 'all usage to be written' },
      );
    },
    async stop() {
      await pool.end();
      nodes.close();
      await product.terminate();
      await product.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Call it before the account's first call, while no process has cached its balance. */
async function setBalance(pool: pg.Pool, accountId: string, balance: string): Promise<void> {
  await pool.query(
    `with changed as (
       update accounts set balance = $2, ledger_seq = ledger_seq + 1
       from (select balance as before from accounts where id = $1) old
       where id = $1 returning ledger_seq, $2::numeric - before as amount
     )
     insert into ledger_entries (id, account_id, seq, kind, amount, balance_after, created_at)
     select $3, $1, ledger_seq, 'adjustment', amount, $2::numeric, now() from changed`,
    [accountId, balance, newId()],
  );
}
