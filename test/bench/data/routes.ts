import type { Variant } from './documents.js';
import type { Subject } from './subjects.js';

type Paths = Variant<string>[];

const WINDOWS = [7, 30, 90];
const RANKING_WINDOWS = [7, 30];
const inWindows = (path: (window: number) => string, windows: readonly number[] = WINDOWS): Paths =>
  windows.map((window) => ({ note: `${window} days`, with: path(window) }));
const plain = (path: string): Paths => [{ with: path }];
const paged = (path: string, offset = 1_000): Paths => [
  { note: 'first page', with: `${path}?limit=100` },
  { note: `offset ${offset.toLocaleString('en')}`, with: `${path}?limit=100&offset=${offset}` },
];

/** The paths of every GET of the API, by its path in the API reference. */
export const routeVariants: Record<string, (subject: Subject) => Paths> = {
  '/api/auth/me': () => plain('/api/auth/me'),
  '/api/billing/balance': () => plain('/api/billing/balance'),
  '/api/billing/ledger': () => paged('/api/billing/ledger', 10_000),
  '/api/billing/ledger.csv': () => [
    { note: 'begins', with: '/api/billing/ledger.csv' },
    { note: 'credits', with: '/api/billing/ledger.csv?kind=credits' },
  ],
  '/api/usage': () => paged('/api/usage', 10_000),
  '/api/usage.csv': ({ keyId }) => [
    { note: 'begins', with: '/api/usage.csv' },
    { note: 'errors begin', with: '/api/usage.csv?status=error' },
    { note: 'of a key begins', with: `/api/usage.csv?key_id=${keyId}` },
    { note: 'of a model never used', with: '/api/usage.csv?model=gateway/none' },
  ],
  '/api/usage/{id}': ({ eventId }) => plain(`/api/usage/${eventId}`),
  '/api/plans': () => plain('/api/plans'),
  '/api/billing/config': () => plain('/api/billing/config'),
  '/api/models': () => plain('/api/models'),
  '/api/keys': () => paged('/api/keys', 10),
  '/api/keys/{id}': ({ keyId }) => plain(`/api/keys/${keyId}`),
  '/api/widgets': () => paged('/api/widgets', 5),
  '/api/widgets/{id}': ({ widgetId }) => plain(`/api/widgets/${widgetId}`),
  '/api/widgets/{id}/usage': ({ widgetId }) =>
    inWindows((days) => `/api/widgets/${widgetId}/usage?window_days=${days}`),
  '/api/usage/analytics': () => inWindows((days) => `/api/usage/analytics?window_days=${days}`),
  '/api/usage/series': () => [
    ...inWindows((days) => `/api/usage/series?window_days=${days}`),
    { note: '7 days by hour', with: '/api/usage/series?window_days=7&unit=hour' },
  ],
  '/api/keys/{id}/analytics': ({ keyId }) =>
    inWindows((days) => `/api/keys/${keyId}/analytics?window_days=${days}`),
  '/api/usage/refused': () => inWindows((days) => `/api/usage/refused?window_days=${days}`),
  '/api/refusals': () => inWindows((days) => `/api/refusals?window_days=${days}`),
  '/api/keys/{id}/refused': ({ keyId }) =>
    inWindows((days) => `/api/keys/${keyId}/refused?window_days=${days}`),
  '/api/billing/outlook': () => plain('/api/billing/outlook'),
  '/api/billing/statements/{month}': ({ month }) => plain(`/api/billing/statements/${month}`),
  '/api/status': () => plain('/api/status'),
  '/api/keys/{id}/alerts': ({ keyId }) => plain(`/api/keys/${keyId}/alerts`),
  '/api/keys/{id}/alert-events': ({ keyId }) => plain(`/api/keys/${keyId}/alert-events`),
  '/api/alert-events': () => paged('/api/alert-events'),
  '/api/billing/low-balance-alert': () => plain('/api/billing/low-balance-alert'),
  '/api/leaderboard': () => inWindows((days) => `/api/leaderboard?window_days=${days}`, RANKING_WINDOWS),
  '/api/leaderboard/mine': () =>
    inWindows((days) => `/api/leaderboard/mine?window_days=${days}`, RANKING_WINDOWS),
  '/api/leaderboard/{family}/{name}': () =>
    inWindows((days) => `/api/leaderboard/gateway/fast?window_days=${days}`, RANKING_WINDOWS),
  '/api/leaderboard/{name}': () => plain('/api/leaderboard/fast'),
  '/api/leaderboard/{family}/{name}/row': () => plain('/api/leaderboard/gateway/fast/row'),
  '/api/prompts': () => [
    ...paged('/api/prompts', 50),
    { note: 'search', with: '/api/prompts?search=question%201' },
  ],
  '/api/prompts/{id}': ({ promptId }) => plain(`/api/prompts/${promptId}`),
  '/api/prompts/{id}/diff': ({ promptId, versions }) =>
    plain(`/api/prompts/${promptId}/diff?from=1&to=${versions}`),
  '/api/prompts/{id}/activations': ({ promptId }) => plain(`/api/prompts/${promptId}/activations`),
  '/api/prompts/{id}/versions/{vid}/stats': ({ promptId, versionId }) =>
    inWindows((days) => `/api/prompts/${promptId}/versions/${versionId}/stats?window_days=${days}`),
  '/api/prompts/{id}/compare': ({ promptId, versions }) =>
    inWindows(
      (days) =>
        `/api/prompts/${promptId}/compare?first=${versions - 1}&second=${versions}&window_days=${days}`,
    ),
  '/api/analytics/what-if': () =>
    inWindows((days) => `/api/analytics/what-if?model=gateway/fast&window_days=${days}`),
  '/api/playground': () => paged('/api/playground', 400),
  '/api/playground/{id}': ({ sessionId }) => plain(`/api/playground/${sessionId}`),
  '/api/playground/shared/{slug}': ({ slug }) => plain(`/api/playground/shared/${slug}`),
};

/** The same for administrators. */
export const adminRouteVariants: typeof routeVariants = {
  '/api/admin/users': () => [
    ...paged('/api/admin/users', 4_000),
    { note: 'search', with: '/api/admin/users?search=account-77' },
  ],
  '/api/admin/users/{id}': ({ accountId }) => plain(`/api/admin/users/${accountId}`),
  '/api/admin/actions': ({ nodeId }) => [
    ...paged('/api/admin/actions', 10_000),
    { note: 'of a subject', with: `/api/admin/actions?subject_id=${nodeId}` },
    { note: 'of an administrator without any', with: `/api/admin/actions?actor_id=${nodeId}` },
  ],
  '/api/admin/jobs': () => plain('/api/admin/jobs'),
  '/api/admin/warnings': () => plain('/api/admin/warnings'),
  '/api/admin/gpu-nodes': () => plain('/api/admin/gpu-nodes'),
  '/api/admin/gpu-nodes/{id}': ({ nodeId }) => plain(`/api/admin/gpu-nodes/${nodeId}`),
  '/api/admin/gpu-nodes/{id}/heartbeats': ({ nodeId }) => paged(`/api/admin/gpu-nodes/${nodeId}/heartbeats`),
  '/api/admin/node-economics': ({ nodeId }) => [
    ...inWindows((days) => `/api/admin/node-economics?window_days=${days}`, RANKING_WINDOWS),
    { note: 'of a node, 30 days', with: `/api/admin/node-economics?window_days=30&node_id=${nodeId}` },
  ],
  '/api/admin/benchmarks': () => paged('/api/admin/benchmarks'),
  '/api/admin/benchmarks/latest': () => plain('/api/admin/benchmarks/latest'),
  '/api/admin/benchmarks/compare': ({ runs: [base, other] }) =>
    plain(`/api/admin/benchmarks/compare?base=${base}&other=${other}`),
};

/** Routes of other processes, or that ask them: not measured. */
export const UNMEASURED_ROUTES = new Set([
  '/v1/models',
  '/health',
  '/health/ready',
  '/api/admin/routing',
  '/api/widget/{key}/config',
]);
