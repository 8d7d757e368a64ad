import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { AppError } from '../errors.js';
import { productRoot } from '../lib/product-root.js';

/** Encodings in which an asset may lie there, the best first. */
const ENCODINGS = ['br', 'gzip'] as const;
export type AssetEncoding = (typeof ENCODINGS)[number];

const manifestSchema = z.object({
  pages: z.record(z.string(), z.string()),
  reference: z.string(),
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

const documentsSchema = z.record(z.string(), z.string());

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

/** A file whose name changes with its content. */
export interface Asset {
  /** Media type. */
  type: string;
  etag: string;
  /** As it is. */
  content: Buffer;
  /** The same, compressed when the build was made; the best first. */
  compressed: readonly { encoding: AssetEncoding; content: Buffer }[];
}

/** What web/tools made of web/, held in memory: no request reaches the disk, and a name that isn't in it is nothing. */
export interface WebBuild {
  /** HTML of a page with `nonce` filled in. */
  page(name: string, nonce: string): string;
  /** Path of the script that shows the API reference. */
  reference: string;
  /** By its path, `/assets/…`. */
  asset(path: string): Asset | undefined;
  /** The GraphQL documents of the pages: id → text. */
  documents: ReadonlyMap<string, string>;
}

/** The placeholder for the nonce in the built HTML. */
const NONCE_PLACEHOLDER = '%CSP_NONCE%';

/** The message if a page is requested without a web build. */
export const notBuilt = (): AppError =>
  new AppError('service_unavailable', { message: 'The web pages aren\'t built. Run "npm run build".' });

/** `dist/web` of this checkout or image. */
const webFolder = (): string => join(productRoot(), 'dist', 'web');

/** Reads the web build; undefined where there is none, so that the API of a checkout without one can run. */
export function loadWebBuild(folder: string = webFolder()): WebBuild | undefined {
  const manifestPath = join(folder, 'manifest.json');
  if (!existsSync(manifestPath)) return undefined;
  const manifest = manifestSchema.parse(readJson(manifestPath));
  const pages = new Map(
    Object.entries(manifest.pages).map(([name, file]) => [
      name,
      readFileSync(join(folder, file), 'utf8').split(NONCE_PLACEHOLDER),
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
    page(name, nonce) {
      const parts = pages.get(name);
      if (!parts) throw new Error(`the web build has no page ${name}`);
      return parts.join(nonce);
    },
    reference: manifest.reference,
    asset: (path) => assets.get(path),
    documents: new Map(Object.entries(documentsSchema.parse(readJson(join(folder, manifest.persisted))))),
  };
}
