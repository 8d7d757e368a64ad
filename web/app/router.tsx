import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router';
import { auditSearch, usersSearch } from './features/admin/admin-search';
import { alertsSearch } from './features/alerts/alerts-search';
import { windowSearch } from './features/analytics/window';
import { billingSearch } from './features/billing/billing-search';
import { keySearch, keysSearch } from './features/keys/keys-search';
import { modelsSearch } from './features/models/models-search';
import { benchmarksSearch, marginSearch, nodeSearch, nodesSearch } from './features/nodes/nodes-search';
import { playgroundSearch } from './features/playground/playground-search';
import { newPromptSearch, promptSearch, promptsSearch } from './features/prompts/prompts-search';
import { usageSearch } from './features/usage/usage-search';
import { lazyAdminPage, lazyPage } from './lazy-page';
import { paths, safeNext } from './paths';
import { hasSeenViewer, loadViewer } from './session';
import { ErrorPage, PageError } from './shell/error-page';
import { NotFoundPage } from './shell/not-found-page';
import { RootLayout } from './shell/root-layout';

const root = createRootRoute({
  component: RootLayout,
  errorComponent: ErrorPage,
  notFoundComponent: NotFoundPage,
});

interface EntrySearch {
  /** The page that was asked for before the log-in. */
  next?: string;
  /** Why somebody stands here who asked for another page. */
  reason?: 'ended' | 'needed';
}

const entrySearch = ({ next, reason }: Record<string, unknown>): EntrySearch => ({
  ...(typeof next === 'string' && { next }),
  ...((reason === 'ended' || reason === 'needed') && { reason }),
});

const sendSignedInOn = async ({ search }: { search: EntrySearch }): Promise<void> => {
  // Whether somebody is signed in is a courtesy here: the form works without knowing.
  const viewer = await loadViewer().catch(() => null);
  if (viewer) throw redirect({ href: safeNext(search.next), replace: true });
};

const login = createRoute({
  getParentRoute: () => root,
  path: paths.login,
  validateSearch: entrySearch,
  beforeLoad: sendSignedInOn,
  component: lazyPage(() => import('./features/accounts/login-page'), 'LoginPage'),
  errorComponent: ErrorPage,
});

const signup = createRoute({
  getParentRoute: () => root,
  path: paths.signup,
  validateSearch: entrySearch,
  beforeLoad: sendSignedInOn,
  component: lazyPage(() => import('./features/accounts/signup-page'), 'SignupPage'),
  errorComponent: ErrorPage,
});

const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: paths.forgotPassword,
  component: lazyPage(() => import('./features/accounts/forgot-password-page'), 'ForgotPasswordPage'),
});

// Also for who is signed in: whoever has the link may use it.
const resetPassword = createRoute({
  getParentRoute: () => root,
  path: paths.resetPassword,
  component: lazyPage(() => import('./features/accounts/reset-password-page'), 'ResetPasswordPage'),
});

const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  async beforeLoad({ location }) {
    const wasSignedIn = hasSeenViewer();
    const viewer = await loadViewer();
    if (viewer) return;
    const reason = wasSignedIn ? 'ended' : 'needed';
    throw redirect({ to: paths.login, search: { next: location.href, reason }, replace: true });
  },
  component: lazyPage(() => import('./shell/app-layout'), 'AppLayout'),
  errorComponent: ErrorPage,
});

const overview = createRoute({
  getParentRoute: () => signedIn,
  path: paths.dashboard,
  validateSearch: windowSearch,
  component: lazyPage(() => import('./features/overview/overview-page'), 'OverviewPage'),
});

const keys = createRoute({
  getParentRoute: () => signedIn,
  path: paths.keys,
  validateSearch: keysSearch,
  component: lazyPage(() => import('./features/keys/keys-page'), 'KeysPage'),
});

const key = createRoute({
  getParentRoute: () => signedIn,
  path: paths.key,
  validateSearch: keySearch,
  component: lazyPage(() => import('./features/keys/key-page'), 'KeyPage'),
});

const widgets = createRoute({
  getParentRoute: () => signedIn,
  path: paths.widgets,
  component: lazyPage(() => import('./features/widgets/widgets-page'), 'WidgetsPage'),
});

const widget = createRoute({
  getParentRoute: () => signedIn,
  path: paths.widget,
  component: lazyPage(() => import('./features/widgets/widget-page'), 'WidgetPage'),
});

const usage = createRoute({
  getParentRoute: () => signedIn,
  path: paths.usage,
  validateSearch: usageSearch,
  component: lazyPage(() => import('./features/usage/usage-page'), 'UsagePage'),
});

const alerts = createRoute({
  getParentRoute: () => signedIn,
  path: paths.alerts,
  validateSearch: alertsSearch,
  component: lazyPage(() => import('./features/alerts/alerts-page'), 'AlertsPage'),
});

const prompts = createRoute({
  getParentRoute: () => signedIn,
  path: paths.prompts,
  validateSearch: promptsSearch,
  component: lazyPage(() => import('./features/prompts/prompts-page'), 'PromptsPage'),
});

const newPrompt = createRoute({
  getParentRoute: () => signedIn,
  path: paths.newPrompt,
  validateSearch: newPromptSearch,
  component: lazyPage(() => import('./features/prompts/new-prompt-page'), 'NewPromptPage'),
});

const prompt = createRoute({
  getParentRoute: () => signedIn,
  path: paths.prompt,
  validateSearch: promptSearch,
  component: lazyPage(() => import('./features/prompts/prompt-page'), 'PromptPage'),
});

const playground = createRoute({
  getParentRoute: () => signedIn,
  path: paths.playground,
  validateSearch: playgroundSearch,
  component: lazyPage(() => import('./features/playground/playground-page'), 'PlaygroundPage'),
});

const models = createRoute({
  getParentRoute: () => signedIn,
  path: paths.models,
  validateSearch: modelsSearch,
  component: lazyPage(() => import('./features/models/models-page'), 'ModelsPage'),
});

const billing = createRoute({
  getParentRoute: () => signedIn,
  path: paths.billing,
  validateSearch: billingSearch,
  component: lazyPage(() => import('./features/billing/billing-page'), 'BillingPage'),
});

const statement = createRoute({
  getParentRoute: () => signedIn,
  path: paths.statement,
  component: lazyPage(() => import('./features/billing/statement-page'), 'StatementPage'),
});

const profile = createRoute({
  getParentRoute: () => signedIn,
  path: paths.profile,
  component: lazyPage(() => import('./features/profile/profile-page'), 'ProfilePage'),
});

const admin = createRoute({
  getParentRoute: () => signedIn,
  id: 'administrators',
  component: lazyPage(() => import('./features/admin/admin-gate'), 'AdminGate'),
});

const adminStart = createRoute({
  getParentRoute: () => signedIn,
  path: paths.admin,
  beforeLoad() {
    throw redirect({ to: paths.nodes, replace: true });
  },
});

const nodes = createRoute({
  getParentRoute: () => admin,
  path: paths.nodes,
  validateSearch: nodesSearch,
  component: lazyAdminPage(() => import('./features/nodes/nodes-page'), 'NodesPage'),
});

const newNode = createRoute({
  getParentRoute: () => admin,
  path: paths.newNode,
  component: lazyAdminPage(() => import('./features/nodes/register-page'), 'RegisterPage'),
});

const node = createRoute({
  getParentRoute: () => admin,
  path: paths.node,
  validateSearch: nodeSearch,
  component: lazyAdminPage(() => import('./features/nodes/node-page'), 'NodePage'),
});

const margin = createRoute({
  getParentRoute: () => admin,
  path: paths.margin,
  validateSearch: marginSearch,
  component: lazyAdminPage(() => import('./features/nodes/margin-page'), 'MarginPage'),
});

const benchmarks = createRoute({
  getParentRoute: () => admin,
  path: paths.benchmarks,
  validateSearch: benchmarksSearch,
  component: lazyAdminPage(() => import('./features/nodes/benchmarks-page'), 'BenchmarksPage'),
});

const routing = createRoute({
  getParentRoute: () => admin,
  path: paths.routing,
  component: lazyAdminPage(() => import('./features/admin/routing-page'), 'RoutingPage'),
});

const jobs = createRoute({
  getParentRoute: () => admin,
  path: paths.jobs,
  component: lazyAdminPage(() => import('./features/admin/jobs-page'), 'JobsPage'),
});

const users = createRoute({
  getParentRoute: () => admin,
  path: paths.users,
  validateSearch: usersSearch,
  component: lazyAdminPage(() => import('./features/admin/users-page'), 'UsersPage'),
});

const user = createRoute({
  getParentRoute: () => admin,
  path: paths.user,
  component: lazyAdminPage(() => import('./features/admin/user-page'), 'UserPage'),
});

const audit = createRoute({
  getParentRoute: () => admin,
  path: paths.audit,
  validateSearch: auditSearch,
  component: lazyAdminPage(() => import('./features/admin/audit-page'), 'AuditPage'),
});

/** Every page of the app, each loaded when it is first gone to, or before that when nothing else is to do. */
export const router = createRouter({
  routeTree: root.addChildren([
    login,
    signup,
    forgotPassword,
    resetPassword,
    signedIn.addChildren([
      overview,
      keys,
      key,
      widgets,
      widget,
      usage,
      alerts,
      prompts,
      newPrompt,
      prompt,
      playground,
      models,
      billing,
      statement,
      profile,
      adminStart,
      admin.addChildren([nodes, newNode, node, margin, benchmarks, routing, jobs, users, user, audit]),
    ]),
  ]),
  defaultPreload: 'intent',
  defaultErrorComponent: PageError,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
