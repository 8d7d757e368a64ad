import { createRoute, redirect } from '@tanstack/react-router';
import { auditSearch, usersSearch } from '../features/admin/admin-search';
import { benchmarksSearch, marginSearch, nodeSearch, nodesSearch } from '../features/nodes/nodes-search';
import { lazyAdminPage } from '../lazy-page';
import { paths } from '../paths';
import { signedIn } from './base';

const admin = createRoute({
  getParentRoute: () => signedIn,
  id: 'administrators',
  component: lazyAdminPage(() => import('../features/admin/admin-gate'), 'AdminGate'),
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
  component: lazyAdminPage(() => import('../features/nodes/nodes-page'), 'NodesPage'),
});

const newNode = createRoute({
  getParentRoute: () => admin,
  path: paths.newNode,
  component: lazyAdminPage(() => import('../features/nodes/register-page'), 'RegisterPage'),
});

const node = createRoute({
  getParentRoute: () => admin,
  path: paths.node,
  validateSearch: nodeSearch,
  component: lazyAdminPage(() => import('../features/nodes/node-page'), 'NodePage'),
});

const margin = createRoute({
  getParentRoute: () => admin,
  path: paths.margin,
  validateSearch: marginSearch,
  component: lazyAdminPage(() => import('../features/nodes/margin-page'), 'MarginPage'),
});

const benchmarks = createRoute({
  getParentRoute: () => admin,
  path: paths.benchmarks,
  validateSearch: benchmarksSearch,
  component: lazyAdminPage(() => import('../features/nodes/benchmarks-page'), 'BenchmarksPage'),
});

const routing = createRoute({
  getParentRoute: () => admin,
  path: paths.routing,
  component: lazyAdminPage(() => import('../features/admin/routing-page'), 'RoutingPage'),
});

const leaderboard = createRoute({
  getParentRoute: () => admin,
  path: paths.adminLeaderboard,
  component: lazyAdminPage(() => import('../features/admin/leaderboard-page'), 'LeaderboardPage'),
});

const jobs = createRoute({
  getParentRoute: () => admin,
  path: paths.jobs,
  component: lazyAdminPage(() => import('../features/admin/jobs-page'), 'JobsPage'),
});

const users = createRoute({
  getParentRoute: () => admin,
  path: paths.users,
  validateSearch: usersSearch,
  component: lazyAdminPage(() => import('../features/admin/users-page'), 'UsersPage'),
});

const user = createRoute({
  getParentRoute: () => admin,
  path: paths.user,
  component: lazyAdminPage(() => import('../features/admin/user-page'), 'UserPage'),
});

const audit = createRoute({
  getParentRoute: () => admin,
  path: paths.audit,
  validateSearch: auditSearch,
  component: lazyAdminPage(() => import('../features/admin/audit-page'), 'AuditPage'),
});

export const adminRoutes = [
  adminStart,
  admin.addChildren([
    nodes,
    newNode,
    node,
    margin,
    benchmarks,
    routing,
    leaderboard,
    jobs,
    users,
    user,
    audit,
  ]),
] as const;
