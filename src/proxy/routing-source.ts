import type { Config } from '../config.js';
import { systemClock } from '../lib/clock.js';
import {
  masterKeyFault,
  parseRouting,
  RoutingFileError,
  readRoutingText,
  SIMULATOR_VARIABLE,
  simulatorFault,
  wantsSimulator,
} from './config-file.js';
import type { Routing } from './routing.js';
import { type Simulator, startSimulator } from './simulator/server.js';

/** The routing file, and the bundled simulator if the file refers to it and nothing else provides it. */
export interface RoutingSource {
  /** Reads the file. @throws RoutingFileError when it is faulty or must not serve; then nothing has changed. */
  load(): Promise<Routing>;
  /** Whether the bundled simulator runs. */
  simulated(): boolean;
  close(): Promise<void>;
}

type SourceConfig = Pick<
  Config,
  | 'proxyConfigPath'
  | 'environment'
  | 'production'
  | 'allowSimulator'
  | 'simulatorControls'
  | 'upstreamMasterKey'
>;

export function createRoutingSource(config: SourceConfig): RoutingSource {
  let simulator: Simulator | undefined;
  return {
    async load() {
      const { text, name } = readRoutingText(config.proxyConfigPath);
      const given = config.environment[SIMULATOR_VARIABLE] || simulator?.url;
      // Read once before anything runs: a faulty file, or one that must not serve, starts no simulator.
      const placeholder = { ...config.environment, [SIMULATOR_VARIABLE]: given ?? 'http://127.0.0.1/v1' };
      const draft = parseRouting(text, name, placeholder);
      const fault = simulatorFault(draft, config) ?? masterKeyFault(draft, name, config);
      if (fault) throw new RoutingFileError([fault]);
      if (given || !wantsSimulator(draft)) return draft;
      const models = draft.deployments.filter(({ simulated }) => simulated).map((one) => one.upstreamModel);
      // It runs until the process ends: calls of the former routing may still be there.
      simulator = await startSimulator({
        clock: systemClock,
        models: [...new Set(models)],
        controls: config.simulatorControls,
      });
      return parseRouting(text, name, { ...config.environment, [SIMULATOR_VARIABLE]: simulator.url });
    },
    simulated: () => simulator !== undefined,
    async close() {
      await simulator?.close();
    },
  };
}
