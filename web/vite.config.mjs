import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, defineConfig } from 'vite';

const here = fileURLToPath(new URL('.', import.meta.url));

/** One entry per page: its name in the manifest → its document. */
export const PAGES = {
  app: resolve(here, 'app/index.html'),
  'graphql-playground': resolve(here, 'graphql-playground/index.html'),
};

/** Modules of packages by their names. */
const packages = (...names) => new RegExp(String.raw`[\\/]node_modules[\\/](?:${names.join('|')})[\\/]`);
const OF_ALL = packages(
  'react|react-dom|scheduler|use-sync-external-store|clsx|@?urql|wonka|@0no-co|graphql-ws',
  String.raw`@tanstack[\\/](?:react-router|router-core|history|store|react-store)`,
);
/** Stop the page behind a dialog from scrolling; GraphiQL uses them, too. */
const OF_DIALOGS = packages(
  'react-(?:remove-scroll|remove-scroll-bar|style-singleton)|use-(?:callback-ref|sidecar)|aria-hidden|tslib|get-nonce',
);
/** The frame of the dashboard: too few bytes for a file of its own on every page. */
const FRAME =
  /[\\/]web[\\/]app[\\/]shell[\\/](?:app-layout|account-menu|alert-banner|balance|closable-banner|command-button|freshness-note|navigation|other-account|side-navigation|still-logged-in|stopped-bar|use-commands|use-is-admin|use-log-out|use-outlook)\./;
const OF_FORMS = packages(String.raw`zod|@mantine[\\/]form|klona`);
const OF_THE_DASHBOARD = new RegExp(
  `${packages('@mantine|lucide-react|fast-deep-equal|klona|uuidv7|zod').source}|${
    // Without main.tsx and router.tsx, which import it, and without the chart, which brings a library.
    String.raw`[\\/]web[\\/](?:generated|app[\\/](?:features|graphql|shell|ui(?![\\/](?:bar-chart|chart-))|session|paths|outlines|lazy-page|freshness|day-turn|build|refused-click|styles\.css))|[\\/]src[\\/]`
  }`,
);
/** Modules of single pages, unless several use them. */
const OF_PAGES = /[\\/]web[\\/]app[\\/](?:features|shell)[\\/]/;
const OF_ADMIN =
  /[\\/]web[\\/]app[\\/](?:features[\\/](?:admin|nodes)[\\/](?!.*-(?:page|gate|search)\.)|ui[\\/](?:line-chart|use-ticking))/;
/** All styles of the dashboard: one small file for every page, instead of three or four requests in a row. */
const STYLES = /[\\/](?:web[\\/]app|@mantine[\\/]core[\\/]styles)[\\/].*\.css$/;
const DIALOG =
  /[\\/]@mantine[\\/]core[\\/]esm[\\/]components[\\/](?:Modal|ScrollArea)|[\\/]ui[\\/](?:dialog|secret-dialog|modal-styles)\./;
/** The index of a package: using one export would reach all of them. */
const BARREL = /[\\/]@mantine[\\/][\w-]+[\\/]esm[\\/]index\.mjs$/;

/** Whether `isMeant` holds for a module, or for one that it imports. */
function reaches(id, isMeant, build, seen = new Set()) {
  if (isMeant.test(id)) return true;
  if (seen.has(id) || BARREL.test(id)) return false;
  seen.add(id);
  return build.getModuleInfo(id)?.importedIds.some((next) => reaches(next, isMeant, build, seen)) ?? false;
}

/** The lazily loaded parts that a module belongs to, up to two. Modules of the first load belong to all. */
function partsOf(id, build, seen = new Set(), parts = new Set()) {
  if (seen.has(id) || parts.size > 1) return parts;
  seen.add(id);
  const { importers, dynamicImporters, isEntry } = build.getModuleInfo(id);
  if (isEntry || dynamicImporters.length > 0) parts.add(id);
  if (isEntry) parts.add('all');
  for (const importer of importers) partsOf(importer, build, seen, parts);
  return parts;
}

/** A schema that only one page uses is in its file: each schema is made when its file is loaded. */
const isOwnSchema = (id, build) =>
  /[\\/]src[\\/]services[\\/].*\.inputs\.ts$/.test(id) && partsOf(id, build).size < 2;

/** Whether several parts use a module. Modules that need forms or dialogs are with those. */
const isShared = (id, build) =>
  partsOf(id, build).size > 1 && !reaches(id, OF_FORMS, build) && !reaches(id, DIALOG, build);

/**
 * Modules that several pages share, in a few files: dozens of small ones load more slowly. Forms (a fifth of all) and dialogs are
 * loaded when a page has them. Modules of one page stay with it, and GraphiQL has its own.
 */
const SHARED_CHUNKS = [
  { name: 'core', priority: 3, test: (id) => OF_ALL.test(id) || /[\\/]theme[\\/]color-scheme|^\0/.test(id) },
  {
    name(id, build) {
      if (OF_DIALOGS.test(id)) return 'dialogs';
      if (isOwnSchema(id, build)) return null;
      if (reaches(id, OF_FORMS, build)) return 'forms';
      return reaches(id, DIALOG, build) ? 'dialogs' : null;
    },
    debugName: 'forms, dialogs',
    priority: 2,
    test: (id) =>
      OF_DIALOGS.test(id) || (OF_THE_DASHBOARD.test(id) && !OF_PAGES.test(id) && !STYLES.test(id)),
  },
  {
    // For the pages of administrators: nobody else loads it.
    name: 'admin',
    priority: 3,
    test: (id) => OF_ADMIN.test(id) && !STYLES.test(id),
    minShareCount: 2,
  },
  // Shared by the other chunks and the entry. It must not import them, or they would wait for each other.
  {
    name(id, build) {
      if (STYLES.test(id) || FRAME.test(id)) return 'shared';
      if (isOwnSchema(id, build)) return null;
      return !OF_PAGES.test(id) || isShared(id, build) ? 'shared' : null;
    },
    debugName: 'shared',
    priority: 1,
    test: (id) => OF_THE_DASHBOARD.test(id) || STYLES.test(id),
  },
];

/** Replaced in each served document by its nonce (src/pages/web.routes.ts). */
export const NONCE_PLACEHOLDER = '%CSP_NONCE%';

/** Bundles a source with everything that it imports; adds the files that were read to `read`. */
async function alone(source, format, read, define = {}) {
  const { output } = await build({
    configFile: false,
    root: here,
    publicDir: false,
    define,
    logLevel: 'warn',
    plugins: [{ name: 'collect-read', moduleParsed: ({ id }) => void read.add(id) }],
    build: {
      write: false,
      target: 'es2023',
      modulePreload: false,
      rolldownOptions: { input: source, output: { format } },
    },
  });
  return output;
}

/** A source and what it imports as one classic script. */
const classicScript = async (source, read) => (await alone(source, 'iife', read))[0].code;

/** A style sheet with what it imports. */
const styleSheet = async (source, read) =>
  (await alone(source, 'es', read)).find(({ fileName }) => fileName.endsWith('.css')).source;

/** The chat widget: the frame, and the loader that names the one it was built with. */
async function widgetFiles(read) {
  const script = await classicScript(resolve(here, 'widget/frame.ts'), read);
  const style = await styleSheet(resolve(here, 'widget/frame.css'), read);
  const version = createHash('sha256').update(script).update(style).digest('hex').slice(0, 12);
  const define = { FRAME_VERSION: JSON.stringify(version) };
  const [loader] = await alone(resolve(here, 'widget/loader.ts'), 'iife', read, define);
  return { 'widget-frame.js': script, 'widget-frame.css': style, 'widget-loader.js': loader.code };
}

const isApp = (path) => path.startsWith('/app/');

/**
 * Scripts that run before the first paint: the theme, and in the dashboard the first query, sent while the other scripts load. In the
 * dashboard they are inlined, so that the first paint waits for nothing else; the policy allows them by hash
 * (src/pages/web-build.ts). Elsewhere they are files that the browser waits for.
 */
function firstScripts() {
  const read = new Set();
  let first = '';
  return {
    name: 'first-scripts',
    /** The modules that were read, for web/tools/bundle.mjs. */
    api: { read },
    async buildStart() {
      if (this.meta.watchMode) return;
      first = (await classicScript(resolve(here, 'app/first.ts'), read)).trim();
      // For the GraphQL playground and the server-rendered pages.
      for (const [name, path] of [
        ['theme.js', 'theme/boot.ts'],
        ['site.js', 'site/site.ts'],
        ['migrate.js', 'site/migrate.ts'],
      ]) {
        this.emitFile({ type: 'asset', name, source: await classicScript(resolve(here, path), read) });
      }
      for (const [name, source] of Object.entries(await widgetFiles(read))) {
        this.emitFile({ type: 'asset', name, source });
      }
      const style = await styleSheet(resolve(here, 'site/site.css'), read);
      this.emitFile({ type: 'asset', name: 'site.css', source: style });
      for (const name of ['icon.svg', 'picture.png']) {
        this.emitFile({ type: 'asset', name, source: readFileSync(resolve(here, 'site', name)) });
      }
    },
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle, path }) {
        if (!bundle) {
          const src = isApp(path) ? '/app/first.ts' : '/theme/boot.ts';
          return [{ tag: 'script', attrs: { type: 'module', src } }];
        }
        if (isApp(path)) return [{ tag: 'script', children: first, injectTo: 'head' }];
        const { fileName } = Object.values(bundle).find(({ names }) => names?.includes('theme.js'));
        return [{ tag: 'script', attrs: { src: `/${fileName}` }, injectTo: 'head-prepend' }];
      },
    },
  };
}

/**
 * Runs scripts one after the other, each in a task of its own. A script that imports the others would run all of them in one task:
 * on a phone, taps would be ignored for a quarter of a second. If a script can't be loaded, the outline shows that.
 */
const runInTurns = (urls) =>
  `(async()=>{for(const url of ${JSON.stringify(urls)}){await import(url);await new Promise(done=>setTimeout(done))}})()${SAY_FAILURE}`;

const SAY_FAILURE =
  ".catch(error=>{const main=document.querySelector('.shell-main');if(!main)throw error;" +
  "const link=document.createElement('a');link.href=location.href;link.textContent='Try again';" +
  "const text=document.createElement('p');text.role='alert';text.append('This page couldn’t be loaded. ',link);" +
  "main.removeAttribute('aria-hidden');main.replaceChildren(text);throw error})";

/** The chunks that the app imports first, each before those that import it. */
const LIBRARIES = ['core', 'shared'];

/** Makes the app's script a preload, like its imports: `runInTurns` starts it. */
function asPreload(html) {
  const entry = / *<script type="module" crossorigin src="(\/assets\/app-[^"]+)"([^>]*)><\/script>\n/;
  const [, app] = entry.exec(html);
  const libraries = LIBRARIES.map((name) => new RegExp(`"(/assets/${name}-[^"]+\\.js)"`).exec(html)[1]);
  return {
    html: html.replace(entry, '  <link rel="modulepreload" crossorigin href="$1"$2>\n'),
    urls: [...libraries, app],
  };
}

/**
 * Moves the dashboard's styles behind the outline in the document, which is visible without them, and the scripts behind both:
 * `fetchpriority`, also in src/pages/web-build.ts.
 */
function stylesLast() {
  return {
    name: 'styles-last',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle, path }) {
        if (!bundle || !isApp(path)) return html;
        const links = html.match(/ *<link rel="stylesheet"[^>]*>\n/g) ?? [];
        const rest = links.reduce((text, link) => text.replace(link, ''), html);
        const { html: preloaded, urls } = asPreload(rest);
        const quiet = preloaded.replace(/<link rel="modulepreload"/g, '$& fetchpriority="low"');
        return {
          html: quiet.replace('<div id="root">', `${links.join('')}<div id="root">`),
          tags: [{ tag: 'script', children: runInTurns(urls), injectTo: 'body' }],
        };
      },
    },
  };
}

/** In development: the paths of the pages, as in src/pages/web.routes.ts. */
function ownAddresses() {
  return {
    name: 'own-addresses',
    configureServer({ middlewares }) {
      middlewares.use((request, _response, next) => {
        if (/^\/(?:login|signup|forgot-password|reset-password|dashboard|admin)(?:[/?]|$)/.test(request.url))
          request.url = '/app/index.html';
        if (/^\/graphql\/playground(?:\?|$)/.test(request.url))
          request.url = '/graphql-playground/index.html';
        next();
      });
    },
  };
}

/** For the build (web/tools/main.mjs) and for `npm run dev:web`, which forwards requests to a running product. */
export default defineConfig({
  root: here,
  publicDir: false,
  appType: 'mpa',
  plugins: [firstScripts(), stylesLast(), ownAddresses()],
  html: { cspNonce: NONCE_PLACEHOLDER },
  oxc: { jsx: { runtime: 'automatic' } },
  build: {
    target: 'es2023',
    assetsDir: 'assets',
    // A font or picture inside a style sheet would need `data:` in the policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: Number.POSITIVE_INFINITY,
    rolldownOptions: {
      input: PAGES,
      output: { codeSplitting: { includeDependenciesRecursively: false, groups: SHARED_CHUNKS } },
      onLog(level, log, report) {
        // "use client", for React's server components, has no meaning here.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log);
      },
    },
  },
  server: {
    port: 5173,
    proxy: Object.fromEntries(
      ['/api', '/v1', '^/graphql(?:\\?|$)', '/openapi.json', '/docs'].map((path) => [
        path,
        { target: 'http://localhost:8080', ws: true },
      ]),
    ),
  },
});
