import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config.js';
import { ensureDatabase } from '../db/embedded.js';
import { ensureDataDir } from '../lib/data-dir.js';
import { CONFIG_EXIT_CODE, PORT_TAKEN_EXIT_CODE } from '../lib/lifecycle.js';
import { dataDirLock, LockedError, takeLock, usedBy } from '../lib/lock-file.js';
import { waitingEvents } from '../metering/replay.js';
import { simulatorOnDemand } from '../proxy/simulator/on-demand.js';
import { RoutingFileError } from '../router/config-file.js';
import { createRoutingSource, printFaults } from '../router/routing-source.js';
import { type Children, describeChildren, type Ports } from './children.js';
import { hasAdministrator, type KeptDatabase, keepDatabase } from './database.js';
import { choosePorts, configuredPortFault, lostPortFault } from './ports.js';
import type { Reporter } from './reporter.js';
import type { RestartBackOff } from './restarts.js';
import { type ChildSpec, type SupervisedChild, supervise } from './supervisor.js';
import { NOT_SIMULATED, simulatedModels, welcome } from './welcome.js';

const DATABASE_NAME = 'gateway';
const START_TIMEOUT_MS = 120_000;
/** How long the welcome waits for jobs, so that it is the last output. No other process depends on jobs. */
const JOBS_PATIENCE_MS = 3_000;

export interface LaunchOptions {
  config: Config;
  reporter: Reporter;
  /** Lets tests run other programs instead of the children. */
  describe?: typeof describeChildren;
  backOff?: RestartBackOff;
  /** How long a configured port may stay taken before the start fails. */
  portPatienceMs?: number;
}

export interface Launcher {
  /** Resolves once the public address responds; never if the start fails or is stopped. */
  readonly ready: Promise<{
    url: string;
    children: ReadonlyMap<string, SupervisedChild>;
    databaseUrl: string;
  }>;
  /** Resolves to the exit code once everything has ended: 0 after `stop`. */
  readonly ended: Promise<number>;
  /** Restarts several edges one by one, while the others take the calls. Leaves a single edge alone. */
  restartEdges(): void;
  /** Stops everything in order: edge, jobs and platform, simulator, database. A second call reports what it waits for. */
  stop(reason: string): void;
}

/** A start that can't succeed. The message is printed as one line. */
class StartFailure extends Error {
  constructor(
    message: string,
    readonly exitCode: number,
  ) {
    super(message);
  }
}

/** Starts database and children of one installation and keeps them running. */
export function launch(options: LaunchOptions): Launcher {
  const { config, reporter, describe = describeChildren, backOff, portPatienceMs } = options;
  const children = new Map<string, SupervisedChild>();
  const giveUp = new AbortController();
  let database: KeptDatabase | undefined;
  let releaseLock: (() => void) | undefined;
  let waitingFor: string[] = [];
  let exitCode = 0;
  const routing = createRoutingSource(config, simulatorOnDemand);
  let simulated = NOT_SIMULATED;

  const fail = (message: string, code: number): void => {
    if (giveUp.signal.aborted) return;
    reporter.note('stopping', message);
    exitCode = code;
    giveUp.abort();
  };

  const start = async (): Promise<{ url: string; databaseUrl: string; lacksAdministrator: boolean }> => {
    await prepare();
    await readRoutingFile();
    const databaseUrl = config.databaseUrl ?? (await openDatabase());
    const ports = await startChildren(databaseUrl);
    // Only development uses the embedded database: production requires DATABASE_URL.
    const isEmbedded = database !== undefined && !giveUp.signal.aborted;
    return {
      url: config.environment.PUBLIC_BASE_URL ? config.publicBaseUrl : `http://localhost:${ports.edge}`,
      databaseUrl,
      lacksAdministrator: isEmbedded && !(await hasAdministrator(databaseUrl)),
    };
  };

  const prepare = async (): Promise<void> => {
    ensureDataDir(config.dataDir);
    try {
      releaseLock = takeLock(dataDirLock(config.dataDir), `http://localhost:${config.port}`);
    } catch (error) {
      if (!(error instanceof LockedError)) throw error;
      throw new StartFailure(usedBy(error.holder, config.dataDir), 1);
    }
    const fault = await configuredPortFault(config, giveUp.signal, portPatienceMs);
    if (fault && !giveUp.signal.aborted) throw new StartFailure(fault, CONFIG_EXIT_CODE);
  };

  /** An invalid file ends the start before anything runs. If the file uses the simulator, it runs in this process for all. */
  const readRoutingFile = async (): Promise<void> => {
    if (config.upstreamUrl !== null || giveUp.signal.aborted) return;
    try {
      simulated = simulatedModels((await routing.load()).deployments);
    } catch (error) {
      if (!(error instanceof RoutingFileError)) throw error;
      printFaults(error);
      throw new StartFailure('the routing file is faulty (see above)', CONFIG_EXIT_CODE);
    }
  };

  const openDatabase = async (): Promise<string> => {
    const began = Date.now();
    database = await keepDatabase({
      directory: join(config.dataDir, 'postgres'),
      note: (line) => reporter.note('database', line),
      say: (line) => reporter.note('restart', line),
      backOff,
      signal: giveUp.signal,
    });
    const { server } = database;
    await ensureDatabase(server, DATABASE_NAME);
    reporter.step('database', `PostgreSQL ${server.origin}`, Date.now() - began);
    return server.url(DATABASE_NAME);
  };

  const startOne = async (spec: ChildSpec, lost: AbortController): Promise<void> => {
    const over = AbortSignal.any([giveUp.signal, lost.signal]);
    if (over.aborted) return;
    const began = Date.now();
    const child = supervise(spec, {
      say: (line) => reporter.note('restart', line),
      onFatal: (name, code) => {
        const fault = code === PORT_TAKEN_EXIT_CODE ? lostPortFault(config, name) : faultAbove(name);
        if (fault === undefined) lost.abort(name);
        else fail(fault, CONFIG_EXIT_CODE);
      },
      backOff,
    });
    children.set(spec.name, child);
    const url = await Promise.race([child.ready, aborted(over)]);
    if (!over.aborted) reporter.step(spec.name, url ?? 'running', Date.now() - began);
  };

  /** Starts all children. If one finds its port taken, returns early with its name as the reason of `lost`. */
  const startAll = async (specs: Children, lost: AbortController): Promise<void> => {
    // The public port doesn't wait for jobs.
    const jobs = startOne(specs.jobs, lost).catch((error: Error) => fail(error.message, 1));
    await startOne(specs.platform, lost);
    await startOne(specs.edge, lost);
    await Promise.race([jobs, delay(JOBS_PATIENCE_MS, undefined, { ref: false })]);
  };

  /**
   * A chosen port may be taken before the child listens on it. The children know each other's addresses from their
   * environment, so all of them start again with other ports. Once it has served, a child keeps its port.
   */
  const startChildren = async (databaseUrl: string): Promise<Ports> => {
    const timer = setTimeout(
      () => fail(`startup took more than ${START_TIMEOUT_MS / 1000} s; see the lines above`, 1),
      START_TIMEOUT_MS,
    );
    try {
      for (;;) {
        const ports = await choosePorts(config);
        const lost = new AbortController();
        await startAll(describe(config, databaseUrl, ports, routing.simulatorUrl()), lost);
        if (!lost.signal.aborted || giveUp.signal.aborted) return ports;
        reporter.note(
          'restart',
          `another program took the port of ${lost.signal.reason}; trying other ports`,
        );
        await stopChildren();
      }
    } finally {
      clearTimeout(timer);
    }
  };

  const stopChildren = async (): Promise<void> => {
    for (const names of [['edge'], ['jobs', 'platform']]) {
      const group = names.flatMap((name) => children.get(name) ?? []);
      waitingFor = group.map((child) => child.name);
      await Promise.all(group.map((child) => child.stop()));
    }
  };

  const stopAll = async (): Promise<void> => {
    await stopChildren();
    await routing.close();
    waitingFor = ['database'];
    await database?.stop();
    releaseLock?.();
  };

  const started = start();
  const ready = new Promise<{ url: string; children: typeof children; databaseUrl: string }>((done) => {
    started.then(
      ({ url, databaseUrl, lacksAdministrator }) => {
        if (giveUp.signal.aborted) return;
        const dataDir = config.environment.DATA_DIR ? config.dataDir : undefined;
        reporter.lines(welcome({ url, simulated, lacksAdministrator, dataDir }));
        done({ url, children, databaseUrl });
      },
      (error: Error) => fail(error.message, error instanceof StartFailure ? error.exitCode : 1),
    );
  });

  const ended = (async () => {
    await aborted(giveUp.signal);
    const began = Date.now();
    // Only what has started can be stopped.
    await started.catch(() => undefined);
    await stopAll();
    const events = await eventsLeft(join(config.dataDir, 'spool'));
    if (exitCode === 0) reporter.step('stopped', `all requests finished, ${events}`, Date.now() - began);
    return exitCode;
  })();

  return {
    ready,
    ended,
    restartEdges() {
      if (giveUp.signal.aborted) return;
      const edges = children.get('edge');
      if (config.edgeProcesses === 1) {
        reporter.note(
          'restart',
          'one edge can not be restarted without a break: set REDIS_URL, and EDGE_PROCESSES to 2 or more',
        );
      } else if (edges?.serves()) {
        reporter.note('restart', 'restarting the edges one by one');
        process.kill(edges.pid()!, 'SIGUSR2');
      } else reporter.note('restart', 'the edges are being started already');
    },
    stop(reason) {
      if (giveUp.signal.aborted) {
        reporter.note('stopping', `still waiting for ${waitingFor.join(' and ') || 'startup to end'}`);
        return;
      }
      reporter.note(
        'stopping',
        `${reason}: finishing requests in progress (${Math.ceil(config.stopMs / 1000)} s at most)`,
      );
      giveUp.abort();
    },
  };
}

const faultAbove = (name: string): string => `${name} can't start with this configuration (see above)`;

/** The edge also ends without its database; its events then wait on the disk. */
async function eventsLeft(spool: string): Promise<string> {
  try {
    const waiting = await waitingEvents(spool);
    if (waiting === 0) return 'all usage events written';
    return `up to ${waiting} usage events are waiting in ${spool}; the next start will record them`;
  } catch (error) {
    return `usage events may be waiting in ${spool} (${(error as Error).message})`;
  }
}

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((done) => {
    if (signal.aborted) done(null);
    else signal.addEventListener('abort', () => done(null), { once: true });
  });
}
