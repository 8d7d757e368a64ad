/** Every path of the app. The server serves the same ones (src/pages/web.routes.ts). */
export const paths = {
  login: '/login',
  signup: '/signup',
  forgotPassword: '/forgot-password',
  resetPassword: '/reset-password',
  dashboard: '/dashboard',
  keys: '/dashboard/keys',
  key: '/dashboard/keys/$keyId',
  widgets: '/dashboard/widgets',
  widget: '/dashboard/widgets/$widgetId',
  usage: '/dashboard/usage',
  alerts: '/dashboard/alerts',
  prompts: '/dashboard/prompts',
  newPrompt: '/dashboard/prompts/new',
  prompt: '/dashboard/prompts/$promptId',
  playground: '/dashboard/playground',
  models: '/dashboard/models',
  billing: '/dashboard/billing',
  statement: '/dashboard/billing/statements/$month',
  profile: '/dashboard/profile',
  admin: '/admin',
  nodes: '/admin/nodes',
  newNode: '/admin/nodes/new',
  node: '/admin/nodes/$nodeId',
  margin: '/admin/margin',
  benchmarks: '/admin/benchmarks',
  routing: '/admin/routing',
  adminLeaderboard: '/admin/leaderboard',
  jobs: '/admin/jobs',
  users: '/admin/users',
  user: '/admin/users/$userId',
  audit: '/admin/audit',
} as const;

const OWN = /^\/(?:dashboard|admin)(?:[/?#]|$)/;

/** Where to go after the log-in: the requested page if it is one of ours, otherwise the dashboard. */
export function safeNext(next: string | undefined): string {
  if (next === undefined || !OWN.test(next)) return paths.dashboard;
  // Resolved first: `..` may lead out of the dashboard.
  const { pathname } = new URL(next, 'http://here.invalid');
  return OWN.test(pathname) && !pathname.includes('//') ? next : paths.dashboard;
}

export interface PageSearch {
  /** Cursor after which the page of a list begins; absent: the newest entries. */
  after?: string;
}

export const pageSearch = ({ after }: Record<string, unknown>): PageSearch =>
  typeof after === 'string' && after !== '' ? { after } : {};
