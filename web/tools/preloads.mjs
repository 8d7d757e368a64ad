/** What a page of the dashboard's router loads when it is gone to (web/app/router.tsx), by the names of its chunks. */
const PAGES = {
  '/login': ['login-page'],
  '/signup': ['signup-page'],
  '/forgot-password': ['forgot-password-page'],
  '/reset-password': ['reset-password-page'],
  '/dashboard': ['app-layout', 'overview-page'],
  '/dashboard/keys': ['app-layout', 'keys-page'],
  '/dashboard/keys/*': ['app-layout', 'key-page'],
  '/dashboard/widgets': ['app-layout', 'widgets-page'],
  '/dashboard/widgets/*': ['app-layout', 'widget-page'],
  '/dashboard/usage': ['app-layout', 'usage-page'],
  '/dashboard/alerts': ['app-layout', 'alerts-page'],
  '/dashboard/prompts': ['app-layout', 'prompts-page'],
  '/dashboard/prompts/new': ['app-layout', 'new-prompt-page'],
  '/dashboard/prompts/*': ['app-layout', 'prompt-page'],
  '/dashboard/playground': ['app-layout', 'playground-page'],
  '/dashboard/billing': ['app-layout', 'billing-page'],
  '/dashboard/billing/statements/*': ['app-layout', 'statement-page'],
  '/dashboard/profile': ['app-layout', 'profile-page'],
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
