import { join } from 'node:path';
import type { Config } from '../config.js';
import { productRoot } from '../lib/product-root.js';
import { SIMULATOR_VARIABLE } from '../router/config-file.js';
import type { ChildSpec } from './supervisor.js';

/** Programs of the launcher's own build (scripts/bundle.mjs). */
const programs = join(productRoot(), 'dist', 'bundle');

export interface Ports {
  edge: number;
  platform: number;
}

/** The processes of one installation. */
export interface Children {
  edge: ChildSpec;
  platform: ChildSpec;
  jobs: ChildSpec;
}

/** The edge ends by itself in `DRAIN_SECONDS`. One that hangs is killed after this. */
export const edgeStopMs = ({ stopMs }: Pick<Config, 'stopMs'>): number => stopMs + 5_000;
/** The platform's requests may take 30 s. */
const PLATFORM_STOP_MS = 35_000;
const STOP_MS = 20_000;
/** Metrics port of each process, relative to `METRICS_PORT`. */
export const METRICS_OFFSET = { edge: 0, platform: 1, jobs: 2 } as const;

/** For the edge: a single edge, or the process that runs several on one port. */
const programOf = (name: keyof typeof METRICS_OFFSET, edges: number): string => {
  if (name !== 'edge') return join(name, 'main.js');
  return edges > 1 ? join('launcher', 'edges.js') : join('gateway', 'main.js');
};

/** Metrics port of the nth edge, from 0: `METRICS_PORT` itself, then those after the other processes'. */
export const edgeMetricsPort = (first: number, nth: number): number =>
  nth === 0 ? first : first + METRICS_OFFSET.jobs + nth;

/** Environment and program of each child. `simulatorUrl` is the address of the simulator that all of them share. */
export function describeChildren(
  config: Config,
  databaseUrl: string,
  ports: Ports,
  simulatorUrl?: string,
): Children {
  const common: NodeJS.ProcessEnv = {
    ...config.environment,
    DATABASE_URL: databaseUrl,
    DATA_DIR: config.dataDir,
    PORT: String(ports.edge),
    PUBLIC_BASE_URL: config.environment.PUBLIC_BASE_URL || `http://localhost:${ports.edge}`,
    PLATFORM_PORT: String(ports.platform),
    PLATFORM_URL: `http://127.0.0.1:${ports.platform}`,
    ...(simulatorUrl !== undefined && { [SIMULATOR_VARIABLE]: simulatorUrl }),
    // Outside production, structured logs would bury the launcher's own lines.
    LOG_LEVEL: config.environment.LOG_LEVEL || (config.production ? 'info' : 'warn'),
  };
  const child = (
    name: keyof typeof METRICS_OFFSET,
    env: NodeJS.ProcessEnv,
    stopPatienceMs: number,
  ): ChildSpec => ({
    name,
    entry: join(programs, programOf(name, config.edgeProcesses)),
    env: {
      ...common,
      ...(config.metricsPort ? { METRICS_PORT: String(config.metricsPort + METRICS_OFFSET[name]) } : {}),
      ...env,
    },
    stopPatienceMs,
    hungAfterMs: config.hungAfterMs,
  });
  // Behind the edge, only the edge is trusted to name the caller.
  const internal = { HOST: '127.0.0.1', TRUST_PROXY: '127.0.0.1/32' };
  return {
    edge: child('edge', { HOST: config.host }, edgeStopMs(config)),
    platform: child('platform', internal, PLATFORM_STOP_MS),
    jobs: child('jobs', internal, STOP_MS),
  };
}
