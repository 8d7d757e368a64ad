import type { RouteRulesBase } from '../lib/route-rules.js';

/** Rules of a route, checked before its handler runs. */
export interface ProxyRouteRules extends RouteRulesBase {
  /** `key`: a virtual key or the master key. `master`: the master key only. Checked before the body is read. */
  auth: 'none' | 'key' | 'master';
}

/** Above the edge's 10 MiB, so that the edge decides what is too large. */
export const INFERENCE_BYTES = 12 * 1024 * 1024;
export const KEYS_BYTES = 512 * 1024;

/** Route options that declare the rules. */
export const proxyRules = (
  auth: ProxyRouteRules['auth'],
  bodyLimitBytes = 0,
): { config: { rules: ProxyRouteRules } } => ({
  config: { rules: { auth, bodyLimitBytes } },
});
