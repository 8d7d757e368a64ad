import type { RouteRulesBase } from '../lib/route-rules.js';
import type { EndpointLabel } from './exchange.js';

/** What holds for a route of the edge before its handler is asked. */
export interface EdgeRouteRules extends RouteRulesBase {
  /**
   * `key`: taken over before its body is read, and answered for an API key (v1.routes.ts); `widget`: the
   * same for a widget's public key (widget.routes.ts); `platform`: passed on as it is, for
   * the platform to decide.
   */
  auth: 'none' | 'key' | 'widget' | 'platform';
  /** What metrics call a route that wants a key. */
  endpoint?: EndpointLabel;
  /** Calls of the Responses API, which become chat calls. */
  isTranslated?: true;
}

/** Options of a route: who may call it, and what else holds. */
export const edgeRules = (
  auth: EdgeRouteRules['auth'],
  more: Partial<EdgeRouteRules> = {},
): { config: { rules: EdgeRouteRules } } => ({ config: { rules: { auth, bodyLimitBytes: 0, ...more } } });

/** Bodies are read against it in collect-body.ts, also those of calls that go round the router. */
export const V1_BODY_LIMIT_BYTES = 10 * 1024 * 1024;

/** 32,000 characters, each of them an escaped emoji of 12 bytes, and what stands around them. */
export const WIDGET_BODY_LIMIT_BYTES = 512 * 1024;
