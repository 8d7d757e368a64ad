import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Deployment, DeploymentState } from './routing.js';

export interface RouterMetrics {
  /** Counts a finished call: `outcome` is `ok` or why it failed. */
  finished(model: string, outcome: string, seconds: number): void;
  /** Counts a try at a deployment: `outcome` is `ok`, `refused`, `client_gone` or why it failed. */
  attempted(deployment: Deployment, outcome: string): void;
  /** Counts a cooldown of a deployment, repeated ones, too. */
  cooledDown(deployment: Deployment): void;
  /** Counts a probe: before a cooldown, or of a node that came back. */
  probed(deployment: Deployment, serves: boolean): void;
  /** Counts a call that a fallback answered. */
  fellBack(model: string, served: string): void;
  /** Registers the gauge of bytes held by large whole answers; `read` is called at each scrape. */
  answers(read: () => number): void;
}

const IGNORED: RouterMetrics = {
  finished: () => undefined,
  attempted: () => undefined,
  cooledDown: () => undefined,
  probed: () => undefined,
  fellBack: () => undefined,
  answers: () => undefined,
};

/**
 * Metrics of calls by model and outcome, of their duration, and of the deployments' states. Labels are names of the routing file,
 * never a caller's input. `states` is called at each scrape.
 */
export function createRouterMetrics(
  registry: Registry | undefined,
  states: () => DeploymentState[],
): RouterMetrics {
  if (!registry) return IGNORED;
  const registers = [registry];
  const calls = new Counter({
    name: 'proxy_calls_total',
    help: 'Calls of the router by public model and outcome (ok, client_gone, stream_broken or error code)',
    labelNames: ['model', 'outcome'],
    registers,
  });
  const duration = new Histogram({
    name: 'proxy_call_seconds',
    help: 'Seconds from a call to its last byte, with all its tries',
    labelNames: ['model'],
    buckets: [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300],
    registers,
  });
  const attempts = new Counter({
    name: 'proxy_attempts_total',
    help: 'Tries at a deployment by outcome (ok, refused, client_gone or why it failed)',
    labelNames: ['model', 'deployment', 'outcome'],
    registers,
  });
  const cooldowns = new Counter({
    name: 'proxy_parkings_total',
    help: 'Number of times a deployment was parked (began to cool down)',
    labelNames: ['model', 'deployment'],
    registers,
  });
  const probes = new Counter({
    name: 'proxy_probes_total',
    help: 'Probes of a deployment before it is parked, and before its node takes calls again, by outcome (ok, failed)',
    labelNames: ['model', 'deployment', 'outcome'],
    registers,
  });
  const fallbacks = new Counter({
    name: 'proxy_fallbacks_total',
    help: 'Calls that a fallback model answered while all deployments of their own model were parked',
    labelNames: ['model', 'served'],
    registers,
  });
  const ofDeployments = (read: (state: DeploymentState) => number) => ({
    labelNames: ['model', 'deployment'],
    registers,
    collect(this: Gauge) {
      // Drops deployments that the routing file no longer has.
      this.reset();
      for (const state of states()) {
        const { group, id } = state.deployment;
        this.set({ model: group, deployment: id }, read(state));
      }
    },
  });
  new Gauge({
    name: 'proxy_deployment_parked',
    help: '1 while a deployment is parked (cooling down), else 0',
    ...ofDeployments(({ cooldownLeftMs }) => (cooldownLeftMs > 0 ? 1 : 0)),
  });
  new Gauge({
    name: 'proxy_deployment_closed',
    help: '1 while a deployment takes no calls: it is parked, or its node is draining or offline, else 0',
    ...ofDeployments(({ availability }) => (availability === 'closed' ? 1 : 0)),
  });
  new Gauge({
    name: 'proxy_deployment_avoided',
    help: '1 while calls go elsewhere because of the node of a deployment (draining, offline, unhealthy, warming), else 0',
    ...ofDeployments(({ cooldownLeftMs, availability }) =>
      availability !== 'open' && cooldownLeftMs === 0 ? 1 : 0,
    ),
  });
  new Gauge({
    name: 'proxy_deployment_calls',
    help: 'Calls in flight at the host and port of a deployment',
    ...ofDeployments(({ inFlight }) => inFlight),
  });
  // Finding a series by its labels costs more than counting, so each one is cached.
  const called = memoised((model, outcome) => calls.labels({ model: model!, outcome: outcome! }));
  const took = memoised((model) => duration.labels({ model: model! }));
  const tried = memoised((model, deployment, outcome) =>
    attempts.labels({ model: model!, deployment: deployment!, outcome: outcome! }),
  );
  return {
    finished(model, outcome, seconds) {
      called(model, outcome).inc();
      took(model).observe(seconds);
    },
    attempted: ({ group, id }, outcome) => tried(group, id, outcome).inc(),
    cooledDown: ({ group, id }) => cooldowns.inc({ model: group, deployment: id }),
    probed: ({ group, id }, serves) =>
      probes.inc({ model: group, deployment: id, outcome: serves ? 'ok' : 'failed' }),
    fellBack: (model, served) => fallbacks.inc({ model, served }),
    answers: (read) =>
      void new Gauge({
        name: 'proxy_answer_bytes',
        help: 'Bytes of unstreamed answers above 64 KiB in memory',
        registers,
        collect() {
          this.set(read());
        },
      }),
  };
}

/** Caches the results of a function of texts. */
function memoised<T>(make: (...texts: string[]) => T): (...texts: string[]) => T {
  const known = new Map<string, T>();
  return (...texts) => {
    const key = texts.join('\n');
    let value = known.get(key);
    if (value === undefined) {
      value = make(...texts);
      known.set(key, value);
    }
    return value;
  };
}
