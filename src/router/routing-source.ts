import { stat } from 'node:fs/promises';
import type { Config } from '../config.js';
import {
  masterKeyFault,
  RoutingFileError,
  readRouting,
  SIMULATOR_VARIABLE,
  simulatorFault,
  wantsSimulator,
} from './config-file.js';
import type { Routing } from './routing.js';

/** The bundled simulator, while it runs. */
export interface RunningSimulator {
  /** With its `/v1`. */
  url: string;
  close(): Promise<void>;
}

/** The routing file, and the bundled simulator if the file refers to it and nothing else provides it. */
export interface RoutingSource {
  readonly path: string;
  /** What tells this version of the file from others; undefined while there is none. */
  version(): Promise<string | undefined>;
  /** The version that was read last. */
  readonly readVersion: string | undefined;
  /** Reads the file. @throws RoutingFileError when it is faulty or must not serve; then nothing has changed. */
  load(): Promise<Routing>;
  /** Address of the simulator that runs for this source, if one does. */
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

/** Starts the simulator for these models. */
export type StartSimulator = (models: string[], config: SourceConfig) => Promise<RunningSimulator>;

/** sysexits' EX_CONFIG, as config.ts uses it. */
const EXIT_CONFIG = 78;

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
      // Read once before anything runs: a faulty file, or one that must not serve, starts no simulator.
      const { routing, name } = read();
      const fault = simulatorFault(routing, config) ?? masterKeyFault(routing, name, config);
      if (fault) throw new RoutingFileError([fault]);
      if (given || !wantsSimulator(routing)) return routing;
      const models = routing.deployments
        .filter(({ simulated }) => simulated)
        .map(({ node }) => node.read().upstreamModel);
      // It runs until the process ends: calls of the former routing may still be there.
      simulator = await startSimulator([...new Set(models)], config);
      return read().routing;
    },
    simulatorUrl: () => simulator?.url,
    async close() {
      await simulator?.close();
    },
  };
}

/** Writes the faults of a routing file to stderr, one line each. */
export function printFaults({ lines }: RoutingFileError): void {
  for (const line of lines) process.stderr.write(`configuration: ${line}\n`);
}

/** Reads the file for the first time, or ends the process with its faults on stderr, one line each. */
export async function loadOrExit(source: RoutingSource): Promise<Routing> {
  try {
    return await source.load();
  } catch (error) {
    if (!(error instanceof RoutingFileError)) throw error;
    printFaults(error);
    process.exit(EXIT_CONFIG);
  }
}
