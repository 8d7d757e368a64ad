import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Deployment, DeploymentState } from './routing.js';

export interface RouterMetrics {
  /** One finished call: `outcome` is `ok` or why not. */
  finished(model: string, outcome: string, seconds: number): void;
  /** One try at one deployment: `outcome` is `ok`, `refused`, `client_gone` or why it failed. */
  attempted(deployment: Deployment, outcome: string): void;
  /** A deployment was parked, be it for the first time or again. */
  parked(deployment: Deployment): void;
  /** A deployment that was about to be parked, or whose node came back, was asked by a small call of our own. */
  probed(deployment: Deployment, serves: boolean): void;
  /** A call went to another group than its own. */
  fellBack(model: string, served: string): void;
  /** `read` counts the bytes of large whole answers. */
  answers(read: () => number): void;
}

const IGNORED: RouterMetrics = {
  finished: () => undefined,
  attempted: () => undefined,
  parked: () => undefined,
  probed: () => undefined,
  fellBack: () => undefined,
  answers: () => undefined,
};

/**
 * Calls by model and outcome, how long they took, and how the deployments fare. Labels are the routing file's names,
 * never a caller's. `states` is asked at each scrape.
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
  const parkings = new Counter({
    name: 'proxy_parkings_total',
    help: 'How often a deployment was parked',
    labelNames: ['model', 'deployment'],
    registers,
  });
  const probes = new Counter({
    name: 'proxy_probes_total',
    help: 'Small calls of our own to a deployment before it is parked, and before its node takes calls again, by outcome (ok, failed)',
    labelNames: ['model', 'deployment', 'outcome'],
    registers,
  });
  const fallbacks = new Counter({
    name: 'proxy_fallbacks_total',
    help: 'Calls that another model answered, since all deployments of their own were parked',
    labelNames: ['model', 'served'],
    registers,
  });
  const ofDeployments = (read: (state: DeploymentState) => number) => ({
    labelNames: ['model', 'deployment'],
    registers,
    collect(this: Gauge) {
      // Those that the routing file no longer has go with it.
      this.reset();
      for (const state of states()) {
        const { group, id } = state.deployment;
        this.set({ model: group, deployment: id }, read(state));
      }
    },
  });
  new Gauge({
    name: 'proxy_deployment_parked',
    help: '1 while a deployment is parked, else 0',
    ...ofDeployments(({ parkedForMs }) => (parkedForMs > 0 ? 1 : 0)),
  });
  new Gauge({
    name: 'proxy_deployment_closed',
    help: '1 while a deployment takes no calls: it is parked, or its node is draining or offline, else 0',
    ...ofDeployments(({ standing }) => (standing === 'closed' ? 1 : 0)),
  });
  new Gauge({
    name: 'proxy_deployment_avoided',
    help: '1 while calls go elsewhere because of the node of a deployment (draining, offline, unhealthy, warming), else 0',
    ...ofDeployments(({ parkedForMs, standing }) => (standing !== 'open' && parkedForMs === 0 ? 1 : 0)),
  });
  new Gauge({
    name: 'proxy_deployment_calls',
    help: 'Calls under way at the host and port of a deployment',
    ...ofDeployments(({ inFlight }) => inFlight),
  });
  // Finding a series by its labels costs more than counting: each is found once.
  const called = remembered((model, outcome) => calls.labels({ model: model!, outcome: outcome! }));
  const took = remembered((model) => duration.labels({ model: model! }));
  const tried = remembered((model, deployment, outcome) =>
    attempts.labels({ model: model!, deployment: deployment!, outcome: outcome! }),
  );
  return {
    finished(model, outcome, seconds) {
      called(model, outcome).inc();
      took(model).observe(seconds);
    },
    attempted: ({ group, id }, outcome) => tried(group, id, outcome).inc(),
    parked: ({ group, id }) => parkings.inc({ model: group, deployment: id }),
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

/** A function of texts that is asked once for the same ones. */
function remembered<T>(make: (...texts: string[]) => T): (...texts: string[]) => T {
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
