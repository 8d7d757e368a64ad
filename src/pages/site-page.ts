import { escaped } from '../lib/html.js';
import type { SiteContext, SitePage } from './site.js';
import { headOf } from './site-head.js';

type Link = readonly [url: string, name: string];

const LINKS: readonly Link[] = [
  ['/leaderboard', 'Leaderboard'],
  ['/pricing', 'Pricing'],
  ['/migrate', 'Migrate'],
  ['/docs', 'Documentation'],
];
const DOCS: readonly Link[] = [
  ['/docs/api', 'API reference'],
  ['/docs/graphql', 'GraphQL'],
  ['/docs/webhooks', 'Webhooks'],
  ['/docs/widget', 'Chat widget'],
];
const ALSO: readonly Link[] = [
  ['/status', 'Status'],
  ['/graphql/playground', 'GraphQL playground'],
  ['/openapi.json', 'OpenAPI document'],
];

/** The logo, as in web/app/ui/brand.tsx. */
const MARK = `<svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><rect x="2.5" y="1.5" width="15" height="17" rx="1.5" fill="none" stroke="currentColor"/><path d="M12.5 1.5v17M5 6h5M5 10h5M5 14h5M14.5 6h1M14.5 10h1M14.5 14h1" stroke="currentColor"/></svg>`;

/** `aria-current` for the page itself, or for the part of the site that it belongs to. */
function currentOf(url: string, path: string | undefined): string {
  if (url === path) return ' aria-current="page"';
  return path?.startsWith(`${url}/`) ? ' aria-current="true"' : '';
}

const linksOf = (links: readonly Link[], path: string | undefined): string =>
  links.map(([url, name]) => `<a href="${url}"${currentOf(url, path)}>${name}</a>`).join('');

const navOf = (name: string, className: string, links: string): string =>
  `<nav class="${className}" aria-label="${name}">${links}</nav>`;

const mainClass = ({ aside, wide }: SitePage): string =>
  aside === undefined ? (wide ? ' class="wide"' : '') : ' class="reference"';

/** A public page in the product's style. No inline code, nothing from other hosts; works without scripts. */
export function sitePage(page: SitePage, site: SiteContext): string {
  const { path } = page;
  const isDocs = path === '/docs' || path?.startsWith('/docs/');
  return `<!doctype html>
<html lang="en">
<head>
${headOf(page, site)}
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="header">
<a class="brand" href="/">${MARK}Inference gateway</a>
${navOf('Pages', 'pages', linksOf(LINKS, path))}
<button type="button" data-theme-switch>Theme</button>
<a href="/dashboard">Dashboard</a>
<a href="/login">Log in</a>
<a href="/signup">Sign up</a>
</header>
${isDocs ? navOf('Documentation', 'subpages', linksOf(DOCS, path)) : ''}
<main id="main"${mainClass(page)}>
${page.aside ?? ''}
<div>
${page.opening ?? `<h1>${escaped(page.title)}</h1>`}
${page.main}
</div>
</main>
<footer class="footer">
${navOf('All pages', 'pages', linksOf([...LINKS, ...DOCS, ...ALSO], undefined))}
</footer>
</body>
</html>
`;
}
