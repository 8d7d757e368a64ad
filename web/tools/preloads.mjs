/** What a page of the dashboard's router loads when it is gone to (web/app/router.tsx), by the names of its chunks; the dashboard's frame is in `layers`. */
const PAGES = {
  '/login': ['login-page'],
  '/signup': ['signup-page'],
  '/forgot-password': ['forgot-password-page'],
  '/reset-password': ['reset-password-page'],
  '/dashboard': ['layers', 'overview-page'],
  '/dashboard/keys': ['layers', 'keys-page'],
  '/dashboard/keys/*': ['layers', 'key-page'],
  '/dashboard/widgets': ['layers', 'widgets-page'],
  '/dashboard/widgets/*': ['layers', 'widget-page'],
  '/dashboard/usage': ['layers', 'usage-page'],
  '/dashboard/alerts': ['layers', 'alerts-page'],
  '/dashboard/prompts': ['layers', 'prompts-page'],
  '/dashboard/prompts/new': ['layers', 'new-prompt-page'],
  '/dashboard/prompts/*': ['layers', 'prompt-page'],
  '/dashboard/playground': ['layers', 'playground-page'],
  '/dashboard/models': ['layers', 'models-page'],
  '/dashboard/billing': ['layers', 'billing-page'],
  '/dashboard/billing/statements/*': ['layers', 'statement-page'],
  '/dashboard/profile': ['layers', 'profile-page'],
  '/admin/nodes': ['layers', 'admin-gate', 'nodes-page'],
  '/admin/nodes/new': ['layers', 'admin-gate', 'register-page'],
  '/admin/nodes/*': ['layers', 'admin-gate', 'node-page'],
  '/admin/margin': ['layers', 'admin-gate', 'margin-page'],
  '/admin/benchmarks': ['layers', 'admin-gate', 'benchmarks-page'],
  '/admin/routing': ['layers', 'admin-gate', 'routing-page'],
  '/admin/jobs': ['layers', 'admin-gate', 'jobs-page'],
  '/admin/users': ['layers', 'admin-gate', 'users-page'],
  '/admin/users/*': ['layers', 'admin-gate', 'user-page'],
  '/admin/audit': ['layers', 'admin-gate', 'audit-page'],
};

/**
 * What the document at an address asks for at once, instead of one round trip after the other: address → scripts and styles
 * that the app's own document doesn't name.
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
  const stylesOf = (names) => [...names].flatMap((name) => [...chunks.get(name).viteMetadata.importedCss]);
  const find = (wanted) => {
    const found = [...chunks.values()].find(({ name }) => name === wanted);
    if (!found) throw new Error(`no chunk is called ${wanted}: name it in web/tools/preloads.mjs`);
    return found.fileName;
  };
  const first = reach([find('app')]);
  const firstStyles = new Set(stylesOf(first));
  return Object.fromEntries(
    Object.entries(PAGES).map(([url, names]) => {
      const more = [...reach(names.map(find))].filter((name) => !first.has(name));
      const styles = stylesOf(more).filter((name) => !firstStyles.has(name));
      const asUrls = (list) => [...new Set(list)].sort().map((name) => `/${name}`);
      return [url, { scripts: asUrls(more), styles: asUrls(styles) }];
    }),
  );
}
