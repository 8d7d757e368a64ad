import { createServer, type Server, type ServerResponse } from 'node:http';
import { collectDefaultMetrics, Registry } from 'prom-client';

/** Creates the registry of a process. */
export function createRegistry(processName: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ process: processName });
  return registry;
}

export interface MetricsListenerOptions {
  registry: Registry;
  host: string;
  port: number;
  /** Whether the process can serve; answers `/health/ready`. An error counts as no. */
  ready(): boolean | Promise<boolean>;
  /** What fails although the process serves; part of the answer. */
  degraded?(): string[];
}

/** Serves `/metrics` and `/health/ready` on a listener of its own, away from the public port. */
export async function startMetricsListener(options: MetricsListenerOptions): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url === '/health/ready') {
      void answerReadiness(options, response);
      return;
    }
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    collectProcessMetrics(options.registry);
    options.registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': options.registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    // Without its code, which would mean that the process's main port is taken.
    server.once('error', ({ message }) => reject(new Error(message)));
    server.listen(options.port, options.host, resolve);
  });
  server.unref();
  return server;
}

const collected = new WeakSet<Registry>();

/**
 * Adds Node's own metrics, such as event-loop delay and memory, at the first scrape: watching the event loop takes a third of a percent
 * of a core, which a process without scrapes doesn't spend.
 */
function collectProcessMetrics(register: Registry): void {
  if (collected.has(register)) return;
  collected.add(register);
  collectDefaultMetrics({ register });
}

async function answerReadiness(options: MetricsListenerOptions, response: ServerResponse): Promise<void> {
  const ready = await new Promise<boolean>((resolve) => resolve(options.ready())).catch(() => false);
  response.writeHead(ready ? 200 : 503, { 'content-type': 'application/json' });
  const degraded = options.degraded?.() ?? [];
  const status = ready ? (degraded.length > 0 ? 'degraded' : 'ok') : 'unavailable';
  response.end(JSON.stringify({ status, ...(degraded.length > 0 && { degraded }) }));
}
