import type { EntityManager } from '@mikro-orm/postgresql';
import type { Registry } from 'prom-client';
import type { Config } from '../../config.js';
import type { Clock } from '../../lib/clock.js';
import type { JsonReader } from '../../lib/json-reader.js';
import type { Logger } from '../../lib/logger.js';
import type { Upstream } from '../../lib/upstream/upstream.js';
import type { Signals } from '../live/signals.js';
import { Mirrors } from './runs/mirrors.js';
import { ModelCalls } from './runs/model-calls.js';
import { openRunBus } from './runs/run-bus.js';
import { Runner } from './runs/runner.js';

/** Makes and follows the playground runs of one process. */
export interface Playground {
  runner: Runner;
  mirrors: Mirrors;
  /** Lets runs end and closes. No new runs may start in the meantime. */
  stop(): Promise<void>;
}

export interface PlaygroundDeps {
  config: Config;
  clock: Clock;
  log: Logger;
  registry: Registry;
  /** The process's own. */
  json: JsonReader;
  signals: Signals;
  /** A new fork. */
  em(): EntityManager;
  /** Carries the calls. The caller closes it after `stop`. */
  upstream: Upstream;
  stopPatienceMs?: number | undefined;
}

/** Doesn't wait: connections are opened when they are needed. */
export function openPlayground(deps: PlaygroundDeps): Playground {
  const { config, clock, log, registry, json, signals, em, upstream, stopPatienceMs } = deps;
  const bus = openRunBus(config.redisUrl, log);
  const mirrors = new Mirrors({ bus, em, log });
  const calls = new ModelCalls(upstream, json, config, clock, registry);
  const runner = new Runner({ calls, bus, signals, em, log, stopPatienceMs });
  return {
    runner,
    mirrors,
    async stop() {
      mirrors.stop();
      await runner.stop();
    },
  };
}
