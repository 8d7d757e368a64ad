import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import { loadConfigOrExit } from '../config.js';
import { announceReady, onShutdown } from '../lib/lifecycle.js';
import { createLogger } from '../lib/logger.js';
import { EDGE_STOP_MS, edgeMetricsPort } from './children.js';
import { type SupervisedChild, supervise } from './supervisor.js';

/** An edge ends by itself after 35 s; this process is killed when it takes longer than an edge may. */
const STOP_TIMEOUT_MS = EDGE_STOP_MS - 2_000;

/**
 * `EDGE_PROCESSES` edges on one public port. This process accepts connections and hands each to the next edge
 * (docs/decisions/0166-edges-on-one-port.md), restarts edges that end, and on SIGUSR2 restarts them one by one.
 */
const config = loadConfigOrExit('edge');
const log = createLogger('edges', config.logLevel);
const entry = fileURLToPath(new URL('../gateway/main.js', import.meta.url));
cluster.schedulingPolicy = cluster.SCHED_RR;
cluster.setupPrimary({ exec: entry });

const start = (nth: number): SupervisedChild => {
  const { metricsPort } = config;
  const env = metricsPort ? { METRICS_PORT: String(edgeMetricsPort(metricsPort, nth)) } : {};
  return supervise(
    { name: `edge ${nth + 1}`, entry, env, stopPatienceMs: EDGE_STOP_MS },
    {
      launch: () => cluster.fork(env).process,
      say: (line) => log.error(line),
      // What a restart doesn't change is the launcher's to tell.
      onFatal: (_name, code) => process.exit(code),
    },
  );
};
const edges = Array.from({ length: config.edgeProcesses }, (_, nth) => start(nth));
let restarting = Promise.resolve();
let stopping = false;

onShutdown(
  log,
  async () => {
    stopping = true;
    await Promise.all(edges.map((edge) => edge.stop()));
  },
  { timeoutMs: STOP_TIMEOUT_MS },
);

async function restartInTurn(): Promise<void> {
  for (const [nth, edge] of edges.entries()) {
    if (stopping) return;
    await edge.stop();
    if (stopping) return;
    edges[nth] = start(nth);
    await edges[nth].ready;
  }
  log.info({ edges: edges.length }, 'all edges are restarted');
}

const [url] = await Promise.all(edges.map(({ ready }) => ready));
process.on('SIGUSR2', () => {
  restarting = restarting.then(restartInTurn);
});
announceReady(url!);
