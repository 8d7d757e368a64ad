import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, defineConfig } from 'vite';

const here = fileURLToPath(new URL('.', import.meta.url));

/** One entry per page: what it is called in the manifest → its document. */
export const PAGES = {
  app: resolve(here, 'app/index.html'),
  'graphql-playground': resolve(here, 'graphql-playground/index.html'),
};

/** Stands in the documents where the platform puts a nonce of each answer (src/pages/web.routes.ts). */
export const NONCE_PLACEHOLDER = '%CSP_NONCE%';

/** A source and what it imports as one classic script. */
async function classicScript(source) {
  const { output } = await build({
    configFile: false,
    root: here,
    publicDir: false,
    logLevel: 'warn',
    build: {
      write: false,
      target: 'es2023',
      modulePreload: false,
      rolldownOptions: { input: source, output: { format: 'iife' } },
    },
  });
  return output[0].code;
}

/**
 * The theme must stand before the first paint, and no inline script may run: a classic script of its own, which the
 * browser waits for, at the top of each document.
 */
function themeFirst() {
  const source = resolve(here, 'theme/boot.ts');
  return {
    name: 'theme-first',
    async buildStart() {
      if (this.meta.watchMode) return;
      const code = await classicScript(source);
      this.emitFile({ type: 'asset', name: 'theme.js', source: code });
    },
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle }) {
        if (!bundle) return [{ tag: 'script', attrs: { type: 'module', src: '/theme/boot.ts' } }];
        const { fileName } = Object.values(bundle).find(({ names }) => names?.includes('theme.js'));
        return [{ tag: 'script', attrs: { src: `/${fileName}` }, injectTo: 'head-prepend' }];
      },
    },
  };
}

/** While developing: the addresses of the pages, as src/pages/web.routes.ts has them. */
function ownAddresses() {
  return {
    name: 'own-addresses',
    configureServer({ middlewares }) {
      middlewares.use((request, _response, next) => {
        if (/^\/(?:login|signup|dashboard|admin)(?:[/?]|$)/.test(request.url))
          request.url = '/app/index.html';
        if (/^\/graphql\/playground(?:\?|$)/.test(request.url))
          request.url = '/graphql-playground/index.html';
        next();
      });
    },
  };
}

/** For the build (web/tools/main.mjs) and for `npm run dev:web`, which passes to a running product. */
export default defineConfig({
  root: here,
  publicDir: false,
  appType: 'mpa',
  plugins: [themeFirst(), ownAddresses()],
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
      onLog(level, log, report) {
        // "use client" of React's server components means nothing here.
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
