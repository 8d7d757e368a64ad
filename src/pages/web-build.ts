import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { AppError } from '../errors.js';
import { type ContentEncoding, ENCODINGS } from '../lib/accept-encoding.js';
import { productRoot } from '../lib/product-root.js';
import type { SiteAssets } from './site.js';

const manifestSchema = z.object({
  pages: z.record(z.string(), z.string()),
  preloads: z.record(z.string(), z.array(z.string())),
  outlines: z.record(z.string(), z.string()),
  site: z.object({
    theme: z.string(),
    style: z.string(),
    script: z.string(),
    migrate: z.string(),
    icon: z.string(),
    picture: z.string(),
  }),
  widget: z.object({ loader: z.string(), script: z.string(), style: z.string() }),
  persisted: z.string(),
  assets: z.array(
    z.object({
      path: z.string().startsWith('/assets/'),
      type: z.string(),
      etag: z.string(),
      encodings: z.array(z.enum(ENCODINGS)),
    }),
  ),
});

/** Assets of the chat widget. */
export type WidgetAssets = z.infer<typeof manifestSchema>['widget'];

const documentsSchema = z.record(z.string(), z.string());

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

/** A file whose name changes with its content. */
export interface Asset {
  /** Media type. */
  type: string;
  etag: string;
  /** Uncompressed. */
  content: Buffer;
  /** Compressed at build time, best first. */
  compressed: readonly { encoding: ContentEncoding; content: Buffer }[];
}

/** The output of web/tools, held in memory: no request reads the disk, and names outside it don't exist. */
export interface WebBuild {
  /**
   * Document of a page with `nonce` wherever one is needed. It preloads everything that the page at `path` consists
   * of, and has its title, where these are known.
   */
  page(name: string, nonce: string, path?: string): string;
  /** Hashes of a document's inline scripts for its policy: `'sha256-…'`. */
  inlineScripts(name: string): readonly string[];
  /** Assets that server-rendered pages share. */
  site: SiteAssets;
  /** Loader and frame of the chat widget. */
  widget: WidgetAssets;
  /** By path, `/assets/…`. */
  asset(path: string): Asset | undefined;
  /** The GraphQL documents of the pages: id → text. */
  documents: ReadonlyMap<string, string>;
}

/** The dashboard's document, the only one with several pages. */
const APP_PAGE = 'app';
/** The placeholder for the nonce in the built HTML. */
const NONCE_PLACEHOLDER = '%CSP_NONCE%';

/** The message if a page is requested without a web build. */
export const notBuilt = (): AppError =>
  new AppError('service_unavailable', { message: 'The web pages aren\'t built. Run "npm run build".' });

function withPreload(document: string, scripts: readonly string[]): string {
  const nonce = `nonce="${NONCE_PLACEHOLDER}"`;
  const modules = scripts.map(
    (url) => `<link rel="modulepreload" fetchpriority="low" crossorigin href="${url}" ${nonce}>\n`,
  );
  return document.replace('</head>', `${modules.join('')}</head>`);
}

/** Placeholders in the outline of a document until its account is known. */
const BARS = '<div class="shell-bar"></div><div class="shell-bar"></div>';

/** With title and lead of a page that are the same for everybody. */
const withOutline = (document: string, outline: string = BARS): string =>
  document.replace(BARS, () => outline);

/** Pages of the app that search engines may index. */
const PUBLIC_PATHS = ['/login', '/signup'];
const NOT_INDEXED = '<meta name="robots" content="noindex">';

/** Public pages may be indexed, others may not. */
const withIndexing = (document: string, path: string): string =>
  PUBLIC_PATHS.includes(path) ? document.replace(NOT_INDEXED, '') : document;

/** Begins an inline script; others have a `src` before their nonce. */
const INLINE_SCRIPT = '<script nonce="';

/**
 * A policy names the allowed inline scripts by the hashes of their text, so that nothing added to the document runs.
 */
const hashesOf = (document: string): string[] =>
  document
    .split(INLINE_SCRIPT)
    .slice(1)
    .map((rest) => {
      const script = rest.slice(rest.indexOf('>') + 1, rest.indexOf('</script>'));
      return `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
    });

/** The path in the table of preloads: one entry below a list is used for all of them. */
const placeOf = (path: string, known: ReadonlyMap<string, unknown>): string =>
  known.has(path) ? path : path.replace(/\/[^/]*$/, '/*');

/** `dist/web` of this checkout or image. */
const webFolder = (): string => join(productRoot(), 'dist', 'web');

/** Reads the web build; undefined without one, so that the API of an unbuilt checkout can run. */
export function loadWebBuild(folder: string = webFolder()): WebBuild | undefined {
  const manifestPath = join(folder, 'manifest.json');
  if (!existsSync(manifestPath)) return undefined;
  const manifest = manifestSchema.parse(readJson(manifestPath));
  const texts = Object.entries(manifest.pages).map(
    ([name, file]) => [name, readFileSync(join(folder, file), 'utf8')] as const,
  );
  const pages = new Map(texts.map(([name, text]) => [name, text.split(NONCE_PLACEHOLDER)]));
  const hashes = new Map(texts.map(([name, text]) => [name, hashesOf(text)]));
  const app = texts.find(([name]) => name === APP_PAGE)?.[1] ?? '';
  const placed = new Map(
    Object.entries(manifest.preloads).map(([path, preload]) => [
      path,
      withIndexing(withOutline(withPreload(app, preload), manifest.outlines[path]), path).split(
        NONCE_PLACEHOLDER,
      ),
    ]),
  );
  const assets = new Map<string, Asset>(
    manifest.assets.map(({ path, type, etag, encodings }) => [
      path,
      {
        type,
        etag,
        content: readFileSync(join(folder, path)),
        compressed: ENCODINGS.filter((encoding) => encodings.includes(encoding)).map((encoding) => ({
          encoding,
          content: readFileSync(join(folder, `${path}.${encoding}`)),
        })),
      },
    ]),
  );
  return {
    page(name, nonce, path = '') {
      const parts = (name === APP_PAGE ? placed.get(placeOf(path, placed)) : undefined) ?? pages.get(name);
      if (!parts) throw new Error(`the web build has no page ${name}`);
      return parts.join(nonce);
    },
    inlineScripts: (name) => hashes.get(name) ?? [],
    site: manifest.site,
    widget: manifest.widget,
    asset: (path) => assets.get(path),
    documents: new Map(Object.entries(documentsSchema.parse(readJson(join(folder, manifest.persisted))))),
  };
}
