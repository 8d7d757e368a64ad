import type { RateClass } from '../graphql/rates.js';
import type { RouteRulesBase } from '../lib/route-rules.js';
import type { HeaderClass } from '../lib/security-headers.js';

/** What the platform guarantees for a route. Hooks enforce it from the matched route (platform/route-guard.ts). */
export interface ApiRouteRules extends RouteRulesBase {
  /** `optional`: a session is verified if there is one; permissions are checked later. */
  auth: 'none' | 'optional' | 'session' | 'admin' | 'internal';
  /** The route sets a session cookie, so pages of other sites must not be able to call it (log-in CSRF). */
  opensSession: boolean;
  /** Allowed media types of the body; empty if the route takes no body. */
  contentTypes: readonly string[];
  /** Whether members of a body may be named `__proto__` and `constructor`; elsewhere they are refused. */
  anyMemberNames: boolean;
  headers: HeaderClass;
  /**
   * What a request counts toward its account's rate (platform/rates.ts), or without a session toward its network's
   * budget (lib/fair/network-budget.ts). Routes below `/api` and `/graphql` are never `none`. `auth`: a write, in
   * addition to the sign-up and log-in limits that the accounts service counts over all processes.
   */
  rate: RateClass | 'auth' | 'none';
}

/** A route's `config`. */
export interface RouteConfig {
  rules: ApiRouteRules;
}

const KIB = 1024;

const READ: ApiRouteRules = {
  auth: 'session',
  opensSession: false,
  bodyLimitBytes: 0,
  contentTypes: [],
  anyMemberNames: false,
  headers: 'api',
  rate: 'read',
};
const WRITE: ApiRouteRules = {
  ...READ,
  bodyLimitBytes: 16 * KIB,
  contentTypes: ['application/json'],
  rate: 'write',
};

/** A route without a body that changes nothing; requires a session unless `rules` say otherwise. */
export const reads = (rules: Partial<ApiRouteRules> = {}): RouteConfig => ({ rules: { ...READ, ...rules } });

/** A route that takes JSON of up to 16 KiB and changes something; requires a session unless `rules` say otherwise. */
export const writes = (rules: Partial<ApiRouteRules> = {}): RouteConfig => ({
  rules: { ...WRITE, ...rules },
});

/** A public page or file from memory. */
export const shows = (headers: HeaderClass): RouteConfig => reads({ auth: 'none', headers, rate: 'none' });
