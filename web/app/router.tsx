import { createRoute, createRouter } from '@tanstack/react-router';
import { alertsSearch } from './features/alerts/alerts-search';
import { windowSearch } from './features/analytics/window';
import { billingSearch } from './features/billing/billing-search';
import { keySearch, keysSearch } from './features/keys/keys-search';
import { modelsSearch } from './features/models/models-search';
import { playgroundSearch } from './features/playground/playground-search';
import { newPromptSearch, promptSearch, promptsSearch } from './features/prompts/prompts-search';
import { usageSearch } from './features/usage/usage-search';
import { lazyPage } from './lazy-page';
import { paths } from './paths';
import { adminRoutes } from './routes/admin';
import { root, signedIn } from './routes/base';
import { entryRoutes } from './routes/entry';
import { PageError } from './shell/error-page';
import { NotFoundPage } from './shell/not-found-page';

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
  validateSearch: windowSearch,
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

/** Every other path, inside the shell: the navigation stays. */
const unknown = createRoute({
  getParentRoute: () => signedIn,
  path: '$',
  component: NotFoundPage,
});

/** Every page of the app. Each is fetched when it is first shown, or earlier while the browser is idle. */
export const router = createRouter({
  routeTree: root.addChildren([
    ...entryRoutes,
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
      ...adminRoutes,
      unknown,
    ]),
  ]),
  // Removes unknown search parameters from the address: `validateSearch` alone leaves them there.
  search: { strict: true },
  defaultPreload: 'intent',
  defaultErrorComponent: PageError,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
