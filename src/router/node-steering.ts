import { randomUUID } from 'node:crypto';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { NODES_CHANNEL, notifyNodeNews } from '../db/invalidation.js';
import { listen } from '../db/listen.js';
import type { Logger } from '../lib/logger.js';
import { createOutageLog } from '../lib/outage-log.js';
import { REPORT_SECONDS, reportOf } from './deployment-reports.js';
import type { SteeringNode } from './host-registry.js';
import type { ModelRouter } from './model-router.js';

/** Interval of readings, and of reports that differ from the last one. */
const POLL_MS = 2_000;
/** Others are written this often, so that a process counts as running (`REPORT_SECONDS`) even if one of them fails. */
const RENEW_MS = 5_000;
const QUIET_MS = 3 * POLL_MS;

export interface Steering {
  /** Resolves once the registry has been read for the first time; pending while the database is unavailable. Never rejects. */
  readonly began: Promise<void>;
  stop(): Promise<void>;
}

type Reports = Record<'nodes' | 'deployments', Record<string, object>>;

export interface SteeringDeps {
  orm: MikroORM;
  databaseUrl: string;
  router: Pick<ModelRouter, 'current' | 'steer' | 'inFlight' | 'deploymentsAt' | 'onNodeIdle'>;
  log: Logger;
  pollMs?: number | undefined;
}

interface NodeRow extends SteeringNode {
  revision: number;
  drained: boolean;
}

/**
 * Applies the node registry to a router: at once when the registry changes, and every 2 s in case a notification was lost.
 * Reports this process's calls and deployments at each node, and marks a closed node as drained once it has no calls left. While
 * the database is unavailable, the last reading applies.
 */
export function followNodes({ orm, databaseUrl, router, log, pollMs = POLL_MS }: SteeringDeps): Steering {
  const proxyId = randomUUID();
  const outages = createOutageLog(log, 'the node registry', QUIET_MS);
  let nodes: NodeRow[] = [];
  let lastReport = '';
  let written: { report: string; at: number } | undefined;
  let running: Promise<void> | undefined;
  let again = false;
  let stopped = false;
  const { promise: began, resolve: begin } = Promise.withResolvers<void>();
  const db = () => orm.em.fork();

  const turn = async (): Promise<void> => {
    nodes = await readNodes(db(), proxyId);
    if (stopped) return;
    router.steer(nodes);
    begin();
    const report = nodes.map((node) => [
      node.id,
      {
        in_flight: router.inFlight(node.endpointKey),
        deployments: router.deploymentsAt(node.endpointKey),
        revision: node.revision,
      },
    ]);
    const states = router.current().states();
    await write({
      nodes: Object.fromEntries(report) as Record<string, object>,
      deployments: Object.fromEntries(states.map((state) => [state.deployment.headerName, reportOf(state)])),
    });
    const draining = nodes.some(({ status, drained }) => status !== 'active' && !drained);
    const drained = draining ? await noteDrained(db()) : 0;
    const reportNow = JSON.stringify(report);
    if (drained > 0 || reportNow !== lastReport) await notifyNodeNews(db());
    lastReport = reportNow;
  };

  const write = async (reports: Reports): Promise<void> => {
    const [report, at] = [JSON.stringify(reports), performance.now()];
    if (written?.report === report && at - written.at < RENEW_MS) return;
    await writeReport(db(), proxyId, reports);
    written = { report, at };
  };

  /** Runs one turn at a time. Wake-ups during a turn lead to one more turn. */
  const wake = (): void => {
    if (stopped) return;
    if (running) {
      again = true;
      return;
    }
    running = turn()
      .catch((error: unknown) => outages.failed(error))
      .finally(() => {
        running = undefined;
        if (!again) return;
        again = false;
        wake();
      });
  };

  router.onNodeIdle(wake);
  const poll = setInterval(wake, pollMs);
  poll.unref();
  const listener = listen({
    databaseUrl,
    channel: NODES_CHANNEL,
    log,
    onNotify: wake,
    onListening() {
      // The database may have crashed, and lost the report.
      written = undefined;
      wake();
    },
  });
  wake();
  return {
    began,
    async stop() {
      stopped = true;
      clearInterval(poll);
      outages.close();
      await listener.stop();
      await running;
      if (written) await removeReport(db(), proxyId).catch(() => undefined);
    },
  };
}

async function readNodes(em: EntityManager, proxyId: string): Promise<NodeRow[]> {
  const { rows } = await sql<{
    id: string;
    endpoint_key: string;
    status: string;
    health_status: string;
    kept_in_routing: boolean;
    heard: boolean;
    revision: number;
    drained: boolean;
    registered_at: number;
    elsewhere: number;
  }>`
    select id, endpoint_key, status, health_status, kept_in_routing, last_heartbeat_at is not null as heard, revision,
      drained_at is not null as drained, (extract(epoch from created_at) * 1000)::float8 as registered_at,
      coalesce((select sum((r.nodes->n.id::text->>'in_flight')::integer) from proxy_reports r
        where r.proxy_id <> ${proxyId} and r.reported_at > now() - ${REPORT_SECONDS} * interval '1 second'),
        0)::float8 as elsewhere
    from gpu_nodes n`.execute(em.getKysely());
  return rows.map((row) => ({
    id: row.id,
    endpointKey: row.endpoint_key,
    status: row.status,
    healthStatus: row.health_status,
    keptInRouting: row.kept_in_routing,
    heard: row.heard,
    revision: row.revision,
    drained: row.drained,
    registeredAt: row.registered_at,
    elsewhere: row.elsewhere,
  }));
}

async function writeReport(
  em: EntityManager,
  proxyId: string,
  { nodes, deployments }: Reports,
): Promise<void> {
  await sql`
    insert into proxy_reports (proxy_id, reported_at, nodes, deployments)
    values (${proxyId}, now(), ${JSON.stringify(nodes)}::jsonb, ${JSON.stringify(deployments)}::jsonb)
    on conflict (proxy_id) do update
      set reported_at = excluded.reported_at, nodes = excluded.nodes, deployments = excluded.deployments`.execute(
    em.getKysely(),
  );
}

/**
 * Marks nodes as drained: those whose status every running process has applied, and that have no calls left.
 * @returns How many it marked.
 */
async function noteDrained(em: EntityManager): Promise<number> {
  const { numAffectedRows } = await sql`
    update gpu_nodes n set drained_at = now()
    where n.status <> 'active' and n.drained_at is null and not exists (
      select from proxy_reports r
      where r.reported_at > now() - ${REPORT_SECONDS} * interval '1 second' and (
        coalesce((r.nodes->n.id::text->>'revision')::integer, -1) < n.revision
        or (r.nodes->n.id::text->>'in_flight')::integer > 0))`.execute(em.getKysely());
  return Number(numAffectedRows ?? 0);
}

/** Also removes reports of processes that ended without removing them. */
async function removeReport(em: EntityManager, proxyId: string): Promise<void> {
  await sql`
    delete from proxy_reports
    where proxy_id = ${proxyId} or reported_at < now() - interval '1 day'`.execute(em.getKysely());
}
