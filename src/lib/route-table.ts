import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';

/** What every process's table says of a route at least; each process adds who may call it and what else holds. */
export interface RouteEntryBase {
  /** `*`: every method. */
  method: string;
  /** As Fastify spells it: `/api/keys/:id`. */
  url: string;
  bodyLimitBytes: number;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The entry of the route table that this route was matched with at its registration. */
    entry?: RouteEntryBase;
  }
}

/** Fastify wants at least one byte; a route without a body never parses one. */
const SMALLEST_BODY_LIMIT = 1;

const keyOf = (method: string, url: string): string => `${method} ${url}`;

/**
 * Binds every route to its entry at registration. Whatever is enforced later is read from that matched route, never
 * from a path that is parsed again (RELIABILITY.md T11, R15).
 * @throws Error at registration for a route without an entry, at `ready()` for an entry without a route.
 */
export function bindRouteTable(app: FastifyInstance, table: readonly RouteEntryBase[]): void {
  const entries = new Map(table.map((entry) => [keyOf(entry.method, entry.url), entry]));
  if (entries.size !== table.length) throw new Error('the route table has two entries for one route');
  const missing = new Set(entries.keys());
  app.addHook('onRoute', (route: RouteOptions) => {
    const methods = [route.method].flat().map((method) => (method === 'HEAD' ? 'GET' : method));
    const found = methods.map(
      (method) => entries.get(keyOf(method, route.url)) ?? entries.get(keyOf('*', route.url)),
    );
    const entry = found[0];
    if (!entry || found.some((other) => other !== entry)) {
      throw new Error(`no entry in the route table for ${methods.join(',')} ${route.url}`);
    }
    missing.delete(keyOf(entry.method, entry.url));
    route.config = { ...route.config, entry };
    route.bodyLimit = Math.max(entry.bodyLimitBytes, SMALLEST_BODY_LIMIT);
  });
  app.addHook('onReady', async () => {
    if (missing.size > 0)
      throw new Error(`the route table promises routes that don't exist: ${[...missing]}`);
  });
}

/** The entry of the route that a request was matched with; undefined where none was. */
export function boundEntry<Entry extends RouteEntryBase>(request: FastifyRequest): Entry | undefined {
  return request.routeOptions.config.entry as Entry | undefined;
}
