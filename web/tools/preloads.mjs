/** The chunks that each page of the dashboard loads (web/app/router.tsx, web/app/routes), by name. */
const PAGES = {
  '/login': ['login-page'],
  '/signup': ['signup-page'],
  '/forgot-password': ['forgot-password-page'],
  '/reset-password': ['reset-password-page'],
  '/dashboard': ['overview-page'],
  '/dashboard/keys': ['keys-page'],
  '/dashboard/keys/*': ['key-page'],
  '/dashboard/widgets': ['widgets-page'],
  '/dashboard/widgets/*': ['widget-page'],
  '/dashboard/usage': ['usage-page'],
  '/dashboard/alerts': ['alerts-page'],
  '/dashboard/prompts': ['prompts-page'],
  '/dashboard/prompts/new': ['new-prompt-page'],
  '/dashboard/prompts/*': ['prompt-page'],
  '/dashboard/playground': ['playground-page'],
  '/dashboard/models': ['models-page'],
  '/dashboard/billing': ['billing-page'],
  '/dashboard/billing/statements/*': ['statement-page'],
  '/dashboard/profile': ['profile-page'],
  '/admin/nodes': ['admin-gate', 'nodes-page'],
  '/admin/nodes/new': ['admin-gate', 'register-page'],
  '/admin/nodes/*': ['admin-gate', 'node-page'],
  '/admin/margin': ['admin-gate', 'margin-page'],
  '/admin/benchmarks': ['admin-gate', 'benchmarks-page'],
  '/admin/routing': ['admin-gate', 'routing-page'],
  '/admin/leaderboard': ['admin-gate', 'leaderboard-page'],
  '/admin/jobs': ['admin-gate', 'jobs-page'],
  '/admin/users': ['admin-gate', 'users-page'],
  '/admin/users/*': ['admin-gate', 'user-page'],
  '/admin/audit': ['admin-gate', 'audit-page'],
};

/**
 * The scripts that the document at a path loads at once, instead of one round trip after the other: path → scripts that the app's
 * own document doesn't name.
 * @throws Error when a page's chunk is gone: its name has changed.
 */
export function preloads(files) {
  const chunks = new Map(
    files.filter(({ type }) => type === 'chunk').map((chunk) => [chunk.fileName, chunk]),
  );
  const reach = (names) => {
    const seen = new Set(names);
    for (const name of seen) for (const next of chunks.get(name).imports) seen.add(next);
    return seen;
  };
  const find = (wanted) => {
    const found = [...chunks.values()].find(({ name }) => name === wanted);
    if (!found) throw new Error(`no chunk is called ${wanted}: name it in web/tools/preloads.mjs`);
    return found.fileName;
  };
  const first = reach([find('app')]);
  return Object.fromEntries(
    Object.entries(PAGES).map(([url, names]) => {
      const more = [...reach(names.map(find))].filter((name) => !first.has(name));
      return [url, more.sort().map((name) => `/${name}`)];
    }),
  );
}
