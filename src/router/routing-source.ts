import { stat } from 'node:fs/promises';
import type { Config } from '../config.js';
import type { Logger } from '../lib/logger.js';
import {
  masterKeyFault,
  RoutingFileError,
  readRouting,
  SIMULATOR_VARIABLE,
  simulatorFault,
  wantsSimulator,
} from './config-file.js';
import type { Routing } from './routing.js';

/** The bundled simulator while it runs. */
export interface RunningSimulator {
  /** Base URL, including `/v1`. */
  url: string;
  close(): Promise<void>;
}

/** The routing file, and the bundled simulator if the file refers to it and no other process runs it. */
export interface RoutingSource {
  readonly path: string;
  /** Identifies the current version of the file; undefined while there is no file. */
  version(): Promise<string | undefined>;
  /** The version read last. */
  readonly readVersion: string | undefined;
  /** Reads the file. @throws RoutingFileError if it is invalid or must not serve; then nothing has changed. */
  load(): Promise<Routing>;
  /** Address of the simulator that this source started, if any. */
  simulatorUrl(): string | undefined;
  close(): Promise<void>;
}

export type SourceConfig = Pick<
  Config,
  | 'proxyConfigPath'
  | 'environment'
  | 'production'
  | 'allowSimulator'
  | 'simulatorControls'
  | 'upstreamMasterKey'
>;

export type StartSimulator = (models: string[], config: SourceConfig) => Promise<RunningSimulator>;

/** sysexits' EX_CONFIG, as config.ts uses it. */
const EXIT_CONFIG = 78;
const POLL_MS = 800;

export function createRoutingSource(config: SourceConfig, startSimulator: StartSimulator): RoutingSource {
  const path = config.proxyConfigPath;
  let simulator: RunningSimulator | undefined;
  let readVersion: string | undefined;
  const version = (): Promise<string | undefined> =>
    stat(path).then(
      ({ ino, size, mtimeMs }) => `${ino} ${size} ${mtimeMs}`,
      () => undefined,
    );
  return {
    path,
    version,
    get readVersion() {
      return readVersion;
    },
    async load() {
      readVersion = await version();
      const given = config.environment[SIMULATOR_VARIABLE] || simulator?.url;
      const read = () =>
        readRouting({
          ...config,
          environment: { ...config.environment, [SIMULATOR_VARIABLE]: given ?? simulator?.url },
        });
      // Read before starting a simulator: an invalid file, or one that must not serve, starts none.
      const { routing, name } = read();
      const fault = simulatorFault(routing, config) ?? masterKeyFault(routing, name, config);
      if (fault) throw new RoutingFileError([fault]);
      if (given || !wantsSimulator(routing)) return routing;
      const models = routing.deployments
        .filter(({ simulated }) => simulated)
        .map(({ node }) => node.read().upstreamModel);
      // It runs until the process ends, since calls of the previous routing may still be in flight.
      simulator = await startSimulator([...new Set(models)], config);
      return read().routing;
    },
    simulatorUrl: () => simulator?.url,
    async close() {
      await simulator?.close();
    },
  };
}

/** Prints the faults of a routing file on stderr, one line each. */
export function printFaults({ lines }: RoutingFileError): void {
  for (const line of lines) process.stderr.write(`configuration: ${line}\n`);
}

/** Reads the file for the first time. Prints the faults of an invalid file and exits. */
export async function loadOrExit(source: RoutingSource): Promise<Routing> {
  try {
    return await source.load();
  } catch (error) {
    if (!(error instanceof RoutingFileError)) throw error;
    printFaults(error);
    process.exit(EXIT_CONFIG);
  }
}

/**
 * Reads the routing file again on SIGHUP and when it changes, and passes the routing to `onRouting`. An invalid file changes
 * nothing. Polls the file by its path, so it notices renamed files, swapped links, and changes since the start.
 * @returns A function that stops following.
 */
export function followFile(
  source: RoutingSource,
  log: Logger,
  onRouting: (routing: Routing) => void | Promise<void>,
): () => void {
  let reading = Promise.resolve();
  let seen: string | undefined;
  const reload = async (): Promise<void> => {
    try {
      const next = await source.load();
      log.info({ deployments: next.deployments.length }, 'reloaded the routing file');
      await onRouting(next);
    } catch (error) {
      if (error instanceof RoutingFileError)
        log.error({ faults: error.lines }, 'invalid routing file; keeping the previous one');
      else log.error({ error }, 'reloading the routing file failed');
    }
  };
  const read = (): void => {
    reading = reading.then(reload);
  };
  const poll = async (): Promise<void> => {
    const version = await source.version();
    // The same version twice: a file that is still being written would have changed again.
    if (version !== source.readVersion && version === seen) read();
    seen = version;
  };
  process.on('SIGHUP', read);
  const timer = setInterval(() => void poll(), POLL_MS);
  timer.unref();
  return () => {
    process.off('SIGHUP', read);
    clearInterval(timer);
  };
}
