import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import { loadConfigOrExit } from '../config.js';
import { collectWhenIdle } from '../lib/collect-when-idle.js';
import { announceReady, onShutdown, startOrExit, tellParent } from '../lib/lifecycle.js';
import { createLogger } from '../lib/logger.js';
import { OUT_OF_FILES, QUIET_MS } from '../lib/open-files.js';
import { createOutageLog } from '../lib/outage-log.js';
import { edgeMetricsPort, edgeStopMs } from './children.js';
import { closeUnaccepted } from './close-unaccepted.js';
import { inRounds, READY_PATIENCE_MS, restartInTurn } from './restart-in-turn.js';
import { type SupervisedChild, supervise } from './supervisor.js';

/** Called on SIGUSR2. Does nothing until all edges serve: without a handler, the signal would end this process. */
let restartAll = (): unknown => undefined;
process.on('SIGUSR2', () => restartAll());
/** Called on SIGHUP, so that each edge reads its routing file again. */
let reloadAll = (): unknown => undefined;
process.on('SIGHUP', () => reloadAll());

/**
 * `EDGE_PROCESSES` edges on one public port, which share their limits over Redis. This process accepts connections, hands
 * each to the next edge, restarts edges that end or hang, and on SIGUSR2 restarts them one by one
 * (docs/decisions/0166-edges-on-one-port.md).
 */
const config = loadConfigOrExit('edge');
const log = createLogger('edges', config.logLevel);
const entry = fileURLToPath(new URL('../gateway/main.js', import.meta.url));
cluster.schedulingPolicy = cluster.SCHED_RR;
cluster.setupPrimary({ exec: entry, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });

/** @param hasServed Whether this is a restart. If a restart fails, the other edges go on. */
const start = (nth: number, hasServed = false): SupervisedChild => {
  const { metricsPort } = config;
  const env = metricsPort ? { METRICS_PORT: String(edgeMetricsPort(metricsPort, nth)) } : {};
  const name = `edge ${nth + 1}`;
  const refusals = createOutageLog(log, name, QUIET_MS, OUT_OF_FILES);
  return supervise(
    { name, entry, env, stopPatienceMs: edgeStopMs(config) - 3_000, hungAfterMs: config.hungAfterMs },
    {
      launch: () => {
        const edge = cluster.fork(env).process;
        closeUnaccepted(edge, () => refusals.failed(undefined));
        return edge;
      },
      say: (line) => log.error(line),
      hasServed,
      // The launcher reports causes that a restart can't cure.
      onFatal: (_name, code) => process.exit(code),
    },
  );
};

async function serve(): Promise<void> {
  // The first edge shows whether edges can start at all; the others follow.
  const edges = [start(0)];
  reloadAll = () => {
    for (const edge of edges) if (edge.serves()) process.kill(edge.pid()!, 'SIGHUP');
  };
  let stopping = false;
  onShutdown(
    log,
    async () => {
      stopping = true;
      await Promise.all(edges.map((edge) => edge.stop()));
    },
    // Before the launcher kills this process, and after it has killed an edge that hangs.
    { timeoutMs: edgeStopMs(config) - 2_000 },
  );

  async function restart(): Promise<void> {
    const began = performance.now();
    const late = await restartInTurn(edges, { start: (nth) => start(nth, true), isStopping: () => stopping });
    if (stopping) return;
    const outcome = late
      ? `${late.name} is not ready ${READY_PATIENCE_MS / 1000} s after its restart; still starting it, and not restarting the edges after it`
      : `restarted ${edges.length} edges in ${((performance.now() - began) / 1000).toFixed(1)} s`;
    if (late) log.error(outcome);
    else log.info(outcome);
    // npm start hides logs at level "info" by default.
    tellParent(outcome);
  }

  const url = await edges[0]!.ready;
  if (stopping) return;
  for (let nth = 1; nth < config.edgeProcesses; nth++) edges.push(start(nth));
  await Promise.all(edges.map(({ ready }) => ready));
  restartAll = inRounds(restart);
  announceReady(url!);
  collectWhenIdle();
}

await startOrExit('edges', serve);
