import type { RouteEntryBase } from '../lib/route-table.js';

/** What holds for a route of the model proxy before its handler is asked. */
export interface RouteEntry extends RouteEntryBase {
  /** `key`: a virtual key or the master key; `master`: the master key alone. Checked on the headers. */
  auth: 'none' | 'key' | 'master';
}

/** Above the edge's 10 MiB, so that the edge decides what is too large. */
const INFERENCE_BYTES = 12 * 1024 * 1024;
const KEYS_BYTES = 512 * 1024;

/** Every route of the process; one that isn't here, or is here and not registered, stops the start. */
export const routeTable: readonly RouteEntry[] = [
  { method: 'GET', url: '/health', auth: 'none', bodyLimitBytes: 0 },
  { method: 'GET', url: '/health/ready', auth: 'none', bodyLimitBytes: 0 },
  { method: 'GET', url: '/health/readiness', auth: 'none', bodyLimitBytes: 0 },
  { method: 'GET', url: '/health/liveliness', auth: 'none', bodyLimitBytes: 0 },
  { method: 'POST', url: '/v1/chat/completions', auth: 'key', bodyLimitBytes: INFERENCE_BYTES },
  { method: 'POST', url: '/v1/embeddings', auth: 'key', bodyLimitBytes: INFERENCE_BYTES },
  { method: 'GET', url: '/v1/models', auth: 'key', bodyLimitBytes: 0 },
  { method: 'GET', url: '/v1/model/info', auth: 'master', bodyLimitBytes: 0 },
  { method: 'POST', url: '/key/generate', auth: 'master', bodyLimitBytes: KEYS_BYTES },
  { method: 'POST', url: '/key/delete', auth: 'master', bodyLimitBytes: KEYS_BYTES },
  { method: 'GET', url: '/key/info', auth: 'master', bodyLimitBytes: 0 },
];
