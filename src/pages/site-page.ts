import { escaped } from '../lib/html.js';

/** What the public pages share, by addresses of the web build. */
export interface SiteAssets {
  theme: string;
  style: string;
  script: string;
}

export interface SitePage {
  title: string;
  /** For who finds the page in a search; without one it isn't meant to be found. */
  description?: string;
  /** The page's own address, marked in the header. */
  path?: string;
  /** Beside the text, such as a list of contents. */
  aside?: string;
  /** HTML. */
  main: string;
}

const LINKS = [
  ['/docs', 'Documentation'],
  ['/docs/api', 'API reference'],
  ['/docs/graphql', 'GraphQL'],
  ['/docs/webhooks', 'Webhooks'],
] as const;

/** The mark, as in web/app/ui/brand.tsx. */
const MARK = `<svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><rect x="2.5" y="1.5" width="15" height="17" rx="1.5" fill="none" stroke="currentColor"/><path d="M12.5 1.5v17M5 6h5M5 10h5M5 14h5M14.5 6h1M14.5 10h1M14.5 14h1" stroke="currentColor"/></svg>`;

const NAME = 'Inference gateway';

function head({ title, description }: SitePage, assets: SiteAssets | undefined): string {
  const about =
    description === undefined
      ? '<meta name="robots" content="noindex">'
      : `<meta name="description" content="${escaped(description)}">`;
  // Where the pages are not built they stand without a style.
  const files = assets
    ? `<script src="${assets.theme}"></script>
<link rel="stylesheet" href="${assets.style}">
<script src="${assets.script}" defer></script>`
    : '';
  return `<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${about}
<title>${escaped(title)} · ${NAME}</title>
<link rel="icon" href="data:,">
${files}`;
}

/** A public page in the product's own style. Nothing in it is inline, nothing comes from elsewhere, and it works without scripts. */
export function sitePage(page: SitePage, assets: SiteAssets | undefined): string {
  const links = LINKS.map(
    ([url, name]) => `<a href="${url}"${url === page.path ? ' aria-current="page"' : ''}>${name}</a>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
${head(page, assets)}
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="header">
<a class="brand" href="/docs">${MARK}${NAME}</a>
<nav aria-label="Pages">${links.join('')}</nav>
<button type="button" data-theme-switch>Theme</button>
<a href="/dashboard">Dashboard</a>
</header>
<main id="main"${page.aside === undefined ? '' : ' class="reference"'}>
${page.aside ?? ''}
<div>
<h1>${escaped(page.title)}</h1>
${page.main}
</div>
</main>
</body>
</html>
`;
}
