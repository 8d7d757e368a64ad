import { escaped } from '../lib/html.js';
import type { SiteContext, SitePage } from './site.js';

const NAME = 'Inference gateway';
/** The preview picture of links: web/site/picture.png. */
const PICTURE = { width: 1200, height: 630, alt: 'Inference gateway: open models behind the OpenAI API' };

const titleOf = ({ title, documentTitle }: SitePage): string => documentTitle ?? `${title} · ${NAME}`;

/** Data, not a script: the content security policy doesn't apply, and nothing in it can end its element. */
const dataOf = (data: object): string =>
  `<script type="application/ld+json">${JSON.stringify(data).replaceAll('<', '\\u003c')}</script>`;

/** Metadata of a page for search engines and link previews. */
function findable(page: SitePage, description: string, { baseUrl, assets }: SiteContext): string {
  const url = `${baseUrl}${page.path}`;
  const properties: Record<string, string | number> = {
    'og:type': 'website',
    'og:site_name': NAME,
    'og:title': titleOf(page),
    'og:description': description,
    'og:url': url,
    ...(assets && {
      'og:image': `${baseUrl}${assets.picture}`,
      'og:image:width': PICTURE.width,
      'og:image:height': PICTURE.height,
      'og:image:alt': PICTURE.alt,
    }),
  };
  const graph = Object.entries(properties).map(
    ([name, value]) => `<meta property="${name}" content="${escaped(String(value))}">`,
  );
  const about = { '@type': 'WebPage', name: page.title, description, url, ...page.about };
  return `<meta name="description" content="${escaped(description)}">
<link rel="canonical" href="${escaped(url)}">
${graph.join('\n')}
<meta name="twitter:card" content="summary_large_image">
${dataOf({ '@context': 'https://schema.org', ...about })}`;
}

/** The head of a public page. */
export function headOf(page: SitePage, site: SiteContext): string {
  const { description, path, script } = page;
  const about =
    description === undefined || path === undefined
      ? '<meta name="robots" content="noindex">'
      : findable(page, description, site);
  const { assets } = site;
  const files = assets
    ? `<link rel="icon" type="image/svg+xml" href="${assets.icon}">
<script src="${assets.theme}"></script>
<link rel="stylesheet" href="${assets.style}">
${[assets.script, ...(script === undefined ? [] : [script])].map((url) => `<script src="${url}" defer></script>`).join('\n')}`
    : '<link rel="icon" href="data:,">';
  return `<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(titleOf(page))}</title>
${about}
${files}`;
}
