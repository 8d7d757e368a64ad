import { Counter, Gauge, type Registry } from 'prom-client';

/** Metrics of GraphQL, whose responses don't show errors in their status. */
export interface GraphqlMetrics {
  failed(code: string): void;
}

export function createGraphqlMetrics(registry: Registry, openSockets: () => number): GraphqlMetrics {
  const errors = new Counter({
    name: 'platform_graphql_errors_total',
    help: 'GraphQL errors by code.',
    labelNames: ['code'],
    registers: [registry],
  });
  new Gauge({
    name: 'platform_graphql_sockets',
    help: 'Open WebSocket connections.',
    registers: [registry],
    collect() {
      this.set(openSockets());
    },
  });
  return { failed: (code) => errors.inc({ code }) };
}
