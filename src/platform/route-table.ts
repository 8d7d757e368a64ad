import type { RateClass } from '../graphql/rates.js';
import type { HeaderClass } from '../lib/security-headers.js';

/** What the platform promises about one route. Hooks enforce it from the matched entry (route-guard.ts). */
export interface RouteEntry {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** As Fastify spells it: `/api/keys/:id`. */
  url: string;
  /** `optional`: a session is opened where there is one; what it may do is decided further in. */
  auth: 'none' | 'optional' | 'session' | 'admin' | 'internal';
  /** Sets the session cookie of whoever asks, so that a page elsewhere must not be able to ask (log-in CSRF). */
  opensSession: boolean;
  bodyLimitBytes: number;
  /** Media types that a body may have; empty: the route takes no body. */
  contentTypes: readonly string[];
  headers: HeaderClass;
  /**
   * What a request takes from what its account may ask in a minute (rates.ts), or without a session from the budget of its
   * network (anonymous-budget.ts); nothing below `/api` and `/graphql` is `none`. `auth`: a write, beside the sign-up and
   * log-in limits that the accounts service counts for all processes.
   */
  rate: RateClass | 'auth' | 'none';
}

const JSON_BODY = ['application/json'] as const;
const KIB = 1024;

const read = (
  url: string,
  auth: RouteEntry['auth'] = 'session',
  rate: RouteEntry['rate'] = 'read',
): RouteEntry => ({
  method: 'GET',
  url,
  auth,
  opensSession: false,
  bodyLimitBytes: 0,
  contentTypes: [],
  headers: 'api',
  rate,
});

const write = (
  method: RouteEntry['method'],
  url: string,
  auth: RouteEntry['auth'] = 'session',
  rate: RouteEntry['rate'] = 'write',
): RouteEntry => ({
  method,
  url,
  auth,
  opensSession: false,
  bodyLimitBytes: 16 * KIB,
  contentTypes: JSON_BODY,
  headers: 'api',
  rate,
});

/** Billing and keys. */
const billingAndKeys: readonly RouteEntry[] = [
  read('/api/billing/balance'),
  write('POST', '/api/billing/topup'),
  read('/api/billing/ledger'),
  read('/api/usage'),
  read('/api/usage.csv', 'session', 'heavy'),
  read('/api/usage/analytics', 'session', 'heavy'),
  read('/api/plans', 'none'),
  read('/api/models', 'none'),
  write('POST', '/api/keys'),
  read('/api/keys'),
  read('/api/keys/:id'),
  read('/api/keys/:id/analytics', 'session', 'heavy'),
  write('PATCH', '/api/keys/:id'),
  write('DELETE', '/api/keys/:id'),
];

const alerts: readonly RouteEntry[] = [
  read('/api/keys/:id/alerts'),
  write('POST', '/api/keys/:id/alerts'),
  write('PATCH', '/api/keys/:id/alerts/:alert_id'),
  write('DELETE', '/api/keys/:id/alerts/:alert_id'),
  write('POST', '/api/keys/:id/alerts/:alert_id/test'),
  write('POST', '/api/keys/:id/alerts/:alert_id/rotate-secret'),
  read('/api/keys/:id/alert-events'),
  read('/api/alert-events'),
  write('POST', '/api/alert-events/:id/redeliver'),
  read('/api/billing/low-balance-alert'),
  write('PUT', '/api/billing/low-balance-alert'),
];

/** Where the links in mails lead. */
const mails: readonly RouteEntry[] = ['/mail/stop', '/mail/confirm'].flatMap((url): RouteEntry[] => [
  { ...read(url, 'none'), headers: 'page', rate: 'none' },
  {
    ...write('POST', url, 'none'),
    bodyLimitBytes: 4 * KIB,
    // What a page's form sends, and a mailbox's one click (RFC 8058).
    contentTypes: ['application/x-www-form-urlencoded', 'multipart/form-data'],
    headers: 'page',
    rate: 'none',
  },
]);

/** Built from web/ (src/pages/web.routes.ts). */
const webPages: readonly RouteEntry[] = [
  { ...read('/assets/*', 'none'), headers: 'asset', rate: 'none' },
  ...['/graphql/playground', '/login', '/signup', '/dashboard', '/dashboard/*', '/admin', '/admin/*'].map(
    (url): RouteEntry => ({ ...read(url, 'none'), headers: 'spa', rate: 'none' }),
  ),
];

/** Queries and mutations by POST; GET is the way to WebSocket. */
const graphql: readonly RouteEntry[] = [
  // `login` and `signup` set the cookie. Each request is a read; its operation takes more by its cost (graphql/rates.ts).
  { ...write('POST', '/graphql', 'optional', 'read'), opensSession: true, bodyLimitBytes: 256 * KIB },
  read('/graphql', 'none'),
];

/** Every route of the process. One that isn't here, or is here and not registered, stops the start. */
export const routeTable: readonly RouteEntry[] = [
  { ...read('/health', 'none'), rate: 'none' },
  { ...read('/health/ready', 'none'), rate: 'none' },
  { ...read('/', 'none'), headers: 'page', rate: 'none' },
  { ...read('/openapi.json', 'none'), rate: 'none' },
  { ...read('/docs/api', 'none'), headers: 'page', rate: 'none' },
  { ...read('/docs', 'none'), headers: 'page', rate: 'none' },
  { ...read('/docs/graphql', 'none'), headers: 'page', rate: 'none' },
  { ...read('/docs/webhooks', 'none'), headers: 'page', rate: 'none' },
  { ...read('/docs/style.css', 'none'), headers: 'asset', rate: 'none' },
  { ...write('POST', '/api/auth/signup', 'none', 'auth'), opensSession: true },
  { ...write('POST', '/api/auth/login', 'none', 'auth'), opensSession: true },
  read('/api/auth/me'),
  write('DELETE', '/api/auth/me', 'session', 'auth'),
  write('POST', '/api/auth/logout'),
  write('POST', '/api/auth/password', 'session', 'auth'),
  read('/api/admin/users', 'admin'),
  write('PATCH', '/api/admin/users/:id', 'admin'),
  ...billingAndKeys,
  ...alerts,
  ...mails,
  ...graphql,
  ...webPages,
];
