import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { formerCopies } from './former.mjs';
import { outlines } from './outlines.mjs';
import { preloads } from './preloads.mjs';

const TYPES = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  ttf: 'font/ttf',
  woff2: 'font/woff2',
  png: 'image/png',
};
/** A smaller file fits into one packet anyway. */
const WORTH_COMPRESSING_BYTES = 1_024;
const COMPRESSIBLE = /\.(?:js|css|svg|ttf)$/;

/** Larger files belong to GraphiQL, not to the dashboard. */
const WORTH_EFFORT_BYTES = 500_000;

const ENCODINGS = {
  // Quality 11 saves a tenth and takes a second for the dashboard; for GraphiQL it would take ten.
  br: (content) =>
    promisify(brotliCompress)(content, {
      params: { [constants.BROTLI_PARAM_QUALITY]: content.length < WORTH_EFFORT_BYTES ? 11 : 9 },
    }),
  gzip: (content) => promisify(gzip)(content, { level: 9 }),
};

/** What compressed copies depend on besides the content: after a change of these, nothing is reused. */
const COMPRESSED_BY = [
  ...['brotli', 'zlib'].map((name) => `${name} ${process.versions[name]}`),
  ...Object.values(ENCODINGS).map(String),
].join('\n');

/** Writes one asset with its compressed copies beside it; gives its entry of the manifest. */
async function writeAsset(folder, former, { fileName, code, source }) {
  const content = Buffer.from(code ?? source);
  const type = TYPES[fileName.slice(fileName.lastIndexOf('.') + 1)];
  if (!type) throw new Error(`no media type for ${fileName}: add it to web/tools/output.mjs`);
  const write = (name, bytes) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), bytes);
  };
  write(fileName, content);
  const etag = createHash('sha256').update(content).digest('base64url').slice(0, 22);
  const encodings = [];
  if (content.length >= WORTH_COMPRESSING_BYTES && COMPRESSIBLE.test(fileName)) {
    for (const [name, compress] of Object.entries(ENCODINGS)) {
      write(`${fileName}.${name}`, former(fileName, name, etag, content) ?? (await compress(content)));
      encodings.push(name);
    }
  }
  return { path: `/${fileName}`, type, etag, encodings };
}

/**
 * Writes everything that the platform serves, and `manifest.json`, which lists it (read by src/pages/web-build.ts and
 * scripts/bootstrap.mjs).
 */
export async function writeOutput(folder, { files, inputs, documents }) {
  // Shared by the server-rendered pages (src/pages/site.ts).
  const named = (name) => `/${files.find(({ names }) => names?.includes(name)).fileName}`;
  const site = {
    theme: named('theme.js'),
    style: named('site.css'),
    script: named('site.js'),
    migrate: named('migrate.js'),
    icon: named('icon.svg'),
    picture: named('picture.png'),
  };
  const widget = {
    loader: named('widget-loader.js'),
    script: named('widget-frame.js'),
    style: named('widget-frame.css'),
  };
  const pages = {};
  const assets = [];
  for (const file of files) {
    if (!file.fileName.endsWith('.html')) continue;
    const name = file.fileName.split('/')[0];
    pages[name] = `${name}.html`;
    writeFileSync(join(folder, pages[name]), file.source);
  }
  const rest = files.filter(({ fileName }) => !fileName.endsWith('.html'));
  const compressedBy = createHash('sha256').update(COMPRESSED_BY).digest('hex');
  const former = formerCopies(compressedBy);
  assets.push(...(await Promise.all(rest.map((file) => writeAsset(folder, former, file)))));
  assets.sort((a, b) => (a.path < b.path ? -1 : 1));
  const persisted = 'persisted-documents.json';
  writeFileSync(join(folder, persisted), `${JSON.stringify(documents, null, 1)}\n`);
  writeFileSync(
    join(folder, 'manifest.json'),
    `${JSON.stringify({ pages, preloads: preloads(files), outlines: outlines(), site, widget, persisted, compressedBy, assets, inputs }, null, 1)}\n`,
  );
}
