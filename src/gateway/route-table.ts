import type { RouteEntryBase } from '../lib/route-table.js';

/** What holds for a route before its handler is asked. Every route of the edge stands here or the start fails. */
export interface RouteEntry extends RouteEntryBase {
  /** `key`: an API key, checked on the headers; `platform`: passed on as it is, the platform decides. */
  auth: 'none' | 'key' | 'platform';
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
