/** Every address of the app, in one place. The server knows the same ones (src/pages/web.routes.ts). */
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

/** Where to go after the log-in: the page that was asked for, if it is one of ours, else the dashboard. */
export function safeNext(next: string | undefined): string {
  if (next === undefined || !OWN.test(next)) return paths.dashboard;
  // Where it leads: `..` may leave the dashboard again.
  const { pathname } = new URL(next, 'http://here.invalid');
  return OWN.test(pathname) && !pathname.includes('//') ? next : paths.dashboard;
}

export interface PageSearch {
  /** Where the page of a list begins; absent: with the newest. */
  after?: string;
}

/** The page of a list from an address. */
export const pageSearch = ({ after }: Record<string, unknown>): PageSearch =>
  typeof after === 'string' && after !== '' ? { after } : {};
