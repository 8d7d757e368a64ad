import type { HTTPMethods, RouteOptions } from 'fastify';

/** What holds for a route before its handler is asked. Every route of the edge stands here or the start fails. */
export interface RouteEntry {
  method: HTTPMethods | '*';
  url: string;
  /** `key`: an API key, checked on the headers; `platform`: passed on as it is, the platform decides. */
  auth: 'none' | 'key' | 'platform';
  bodyLimitBytes: number;
  /** `any` body is read as JSON whatever its type says; `none` takes no body. */
  contentTypes: 'any' | 'none' | 'platform';
  headers: 'api' | 'platform';
  /** `plan`: the plan's requests per minute; `platform`: the platform's own limits. */
  rate: 'none' | 'plan' | 'platform';
}

export const V1_BODY_LIMIT_BYTES = 10 * 1024 * 1024;

export const routeTable: readonly RouteEntry[] = [
  {
    method: 'GET',
    url: '/health',
    auth: 'none',
    bodyLimitBytes: 0,
    contentTypes: 'none',
    headers: 'api',
    rate: 'none',
  },
  {
    method: 'GET',
    url: '/health/ready',
    auth: 'none',
    bodyLimitBytes: 0,
    contentTypes: 'none',
    headers: 'api',
    rate: 'none',
  },
  {
    method: 'POST',
    url: '/v1/chat/completions',
    auth: 'key',
    bodyLimitBytes: V1_BODY_LIMIT_BYTES,
    contentTypes: 'any',
    headers: 'api',
    rate: 'plan',
  },
  {
    method: 'POST',
    url: '/v1/embeddings',
    auth: 'key',
    bodyLimitBytes: V1_BODY_LIMIT_BYTES,
    contentTypes: 'any',
    headers: 'api',
    rate: 'plan',
  },
  {
    method: 'GET',
    url: '/v1/models',
    auth: 'key',
    bodyLimitBytes: 0,
    contentTypes: 'none',
    headers: 'api',
    rate: 'none',
  },
  {
    method: '*',
    url: '/v1',
    auth: 'key',
    bodyLimitBytes: 0,
    contentTypes: 'none',
    headers: 'api',
    rate: 'none',
  },
  {
    method: '*',
    url: '/v1/*',
    auth: 'key',
    bodyLimitBytes: 0,
    contentTypes: 'none',
    headers: 'api',
    rate: 'none',
  },
  {
    method: '*',
    url: '/',
    auth: 'platform',
    bodyLimitBytes: 0,
    contentTypes: 'platform',
    headers: 'platform',
    rate: 'platform',
  },
  {
    method: '*',
    url: '/*',
    auth: 'platform',
    bodyLimitBytes: 0,
    contentTypes: 'platform',
    headers: 'platform',
    rate: 'platform',
  },
];

/** The entry of a route. @throws Error when there is none: the process must not start. */
export function entryOf(route: Pick<RouteOptions, 'method' | 'url'>): RouteEntry {
  const methods = Array.isArray(route.method) ? route.method : [route.method];
  for (const method of methods) {
    const entry = routeTable.find(
      ({ method: known, url }) => url === route.url && (known === '*' || known === method),
    );
    if (!entry) throw new Error(`route without an entry in the route table: ${method} ${route.url}`);
    if (entry.method === '*' || methods.length === 1) return entry;
  }
  throw new Error(`route with several methods needs one entry for all of them: ${route.url}`);
}
