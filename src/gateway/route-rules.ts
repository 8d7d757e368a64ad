import type { RouteRulesBase } from '../lib/route-rules.js';
import type { EndpointLabel } from './exchange.js';

/** Rules of a route, checked before its handler runs. */
export interface EdgeRouteRules extends RouteRulesBase {
  /**
   * `key`: taken over before its body is read and authenticated by API key (v1.routes.ts). `widget`: the same with a widget's public
   * key (widget/widget.routes.ts). `platform`: passed to the platform, which decides.
   */
  auth: 'none' | 'key' | 'widget' | 'platform';
  /** The endpoint label in metrics, for routes with `key`. */
  endpoint?: EndpointLabel;
  /** Calls of the Responses API, which become chat calls. */
  isTranslated?: true;
}

/** Route options that declare the rules. */
export const edgeRules = (
  auth: EdgeRouteRules['auth'],
  more: Partial<EdgeRouteRules> = {},
): { config: { rules: EdgeRouteRules } } => ({ config: { rules: { auth, bodyLimitBytes: 0, ...more } } });

/** Enforced in collect-body.ts, also for calls that bypass Fastify's router. */
export const V1_BODY_LIMIT_BYTES = 10 * 1024 * 1024;

/** 32,000 characters of 12 bytes each, as escaped emoji, and the JSON around them. */
export const WIDGET_BODY_LIMIT_BYTES = 512 * 1024;
