import type { RouteRulesBase } from '../lib/route-rules.js';

/** What holds for a route of the model proxy before its handler is asked. */
export interface ProxyRouteRules extends RouteRulesBase {
  /** `key`: a virtual key or the master key; `master`: the master key alone. Checked on the headers. */
  auth: 'none' | 'key' | 'master';
}

/** Above the edge's 10 MiB, so that the edge decides what is too large. */
export const INFERENCE_BYTES = 12 * 1024 * 1024;
export const KEYS_BYTES = 512 * 1024;

/** Options of a route: who may call it, and how much it takes. */
export const proxyRules = (
  auth: ProxyRouteRules['auth'],
  bodyLimitBytes = 0,
): { config: { rules: ProxyRouteRules } } => ({
  config: { rules: { auth, bodyLimitBytes } },
});
