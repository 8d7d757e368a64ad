import type { RateClass } from '../graphql/rates.js';
import type { RouteRulesBase } from '../lib/route-rules.js';
import type { HeaderClass } from '../lib/security-headers.js';

/** What the platform promises about one route. Hooks enforce it from the matched route (platform/route-guard.ts). */
export interface ApiRouteRules extends RouteRulesBase {
  /** `optional`: a session is verified if there is one; permissions are checked later. */
  auth: 'none' | 'optional' | 'session' | 'admin' | 'internal';
  /** Sets the session cookie of whoever asks, so that a page elsewhere must not be able to ask (log-in CSRF). */
  opensSession: boolean;
  /** Media types that a body may have; empty: the route takes no body. */
  contentTypes: readonly string[];
  /** Whether members of a body may be called `__proto__` and `constructor`; elsewhere they are refused. */
  anyMemberNames: boolean;
  headers: HeaderClass;
  /**
   * What a request takes from what its account may ask in a minute (platform/rates.ts), or without a session from the budget
   * of its network (lib/fair/network-budget.ts); nothing below `/api` and `/graphql` is `none`. `auth`: a write, beside
   * the sign-up and log-in limits that the accounts service counts for all processes.
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

/** A route that takes no body and changes nothing; for a session where `rules` don't say otherwise. */
export const reads = (rules: Partial<ApiRouteRules> = {}): RouteConfig => ({ rules: { ...READ, ...rules } });

/** A route that takes JSON of up to 16 KiB and changes something; for a session where `rules` don't say otherwise. */
export const writes = (rules: Partial<ApiRouteRules> = {}): RouteConfig => ({
  rules: { ...WRITE, ...rules },
});

/** A public page or file from this process's memory. */
export const shows = (headers: HeaderClass): RouteConfig => reads({ auth: 'none', headers, rate: 'none' });
