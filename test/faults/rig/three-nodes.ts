import { setTimeout as pause } from 'node:timers/promises';
import { insertNode } from '../../nodes/support.js';
import { routes } from '../../proxy/routes.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { createTestKey, startTestEdge, type TestEdge, type TestKey } from '../../support/edge.js';
import { startTestProxy, type TestProxy } from '../../support/proxy.js';
import { TEST_SECRETS } from '../../support/secrets.js';
import { until } from '../../support/until.js';
import { type Entry, Journal, outcome } from './client.js';
import { type FaultNode, startFaultNode } from './nodes.js';
import type { Order } from './upstream.js';

/** Edge and model proxy before three nodes of one model, all registered and healthy. */
export interface ThreeNodes {
  readonly db: TestDatabase;
  readonly edge: TestEdge;
  readonly nodes: readonly FaultNode[];
  /** Their ids in the registry. */
  readonly ids: readonly string[];
  readonly customer: TestKey;
  readonly journal: Journal;
  /** Whether the proxy uses each deployment: `yes`, `if_no_other_can` or `no`. */
  standings(): Promise<string[]>;
  /** Changes a node in the registry, like an administrator or the sweep, and waits until the proxy applies it. */
  set(id: string, change: Record<string, string>): Promise<void>;
  /** Callers that send the next call after each answer, until they are stopped. */
  load(callers: number, order?: Omit<Order, 'n'>): Load;
  close(): Promise<void>;
}

export interface Load {
  /** What they saw, including calls in flight. */
  readonly entries: readonly Entry[];
  /** Waits until so many more calls are over. */
  more(calls: number): Promise<void>;
  stop(): Promise<void>;
}

/** Seconds to the first byte and between bytes. Nodes, proxy and edge share a process, which may freeze for a second or two. */
const PATIENCE_SECONDS = 3;

export async function startThreeNodes(): Promise<ThreeNodes> {
  const db = await createTestDatabase();
  await db.pool.query('update plans set requests_per_minute = 600000');
  const nodes = [await startFaultNode(), await startFaultNode(), await startFaultNode()];
  const ids: string[] = [];
  for (const { url } of nodes) ids.push(await insertNode(db.pool, url));
  const config = routes(
    nodes.map(({ url }, index) => ({
      model: 'gateway/fast',
      id: `node-${index}`,
      url,
      timeout: PATIENCE_SECONDS,
    })),
    { cooldown_time: 60, allowed_fails: 3, num_retries: 2 },
  );
  const proxy: TestProxy = await startTestProxy(db, {
    config,
    followNodes: true,
    idleMs: PATIENCE_SECONDS * 1_000,
  });
  const edge = await startTestEdge(db, { upstreamUrl: proxy.url });
  const customer = await createTestKey(db, {
    balance: '100000',
    virtualKey: TEST_SECRETS.UPSTREAM_MASTER_KEY,
  });
  const journal = new Journal();
  await until(async () => (await db.pool.query('select from proxy_reports')).rowCount);
  return {
    ...{ db, edge, nodes, ids, customer, journal },
    async standings() {
      const headers = { authorization: `Bearer ${proxy.masterKey}` };
      const answer = await fetch(`${proxy.url}/v1/model/info`, { headers });
      const { data } = (await answer.json()) as { data: { takes_calls: string }[] };
      return data.map(({ takes_calls }) => takes_calls);
    },
    async set(id, change) {
      for (const [column, value] of Object.entries(change))
        await db.pool.query(
          `update gpu_nodes set ${column} = $1, revision = revision + 1, drained_at = null where id = $2`,
          [value, id],
        );
      await db.pool.query(`select pg_notify('gateway_nodes', '')`);
      const applied = () =>
        db.pool.query(
          `select from gpu_nodes n join proxy_reports r on (r.nodes->n.id::text->>'revision')::integer >= n.revision
           where n.id = $1`,
          [id],
        );
      await until(async () => (await applied()).rowCount, { what: 'the proxy to go by it' });
    },
    load(callers, order = {}) {
      const entries: Entry[] = [];
      let [going, over] = [true, 0];
      const all = Array.from({ length: callers }, async (_, caller) => {
        while (going) {
          const calling = journal.call(edge.url, customer.key, order, { stream: caller % 2 === 0 });
          entries.push(journal.entries.at(-1)!);
          await calling;
          over++;
          await pause(1);
        }
      });
      return {
        entries,
        more: async (calls) => {
          const least = over + calls;
          await until(() => over >= least, { timeoutMs: 60_000, what: `${calls} more calls` });
        },
        async stop() {
          going = false;
          await Promise.all(all);
        },
      };
    },
    async close() {
      await edge.close();
      await proxy.close();
      await Promise.all(nodes.map((node) => node.close()));
      await db.close();
    },
  };
}

/** Calls that failed before any byte of an answer. */
export const failedEarly = (entries: readonly Entry[]): string[] =>
  entries.filter((entry) => outcome(entry) !== '200' && entry.tokens === 0).map(outcome);
