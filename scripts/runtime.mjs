/**
 * Lays out in a folder what a machine needs that only runs the product: the built programs and pages, the packages that the
 * programs don't contain, and Node without its headers. For images (docs/deployment.md); a database is not part of it.
 *
 *   npm run build && node scripts/runtime.mjs <folder>
 */
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const target = process.argv[2];
if (!target) throw new Error('usage: node scripts/runtime.mjs <folder>');
const readJson = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'));
const locked = readJson('package-lock.json').packages;

/** The folder of a package as the one in `from` finds it: below that, or else further up. */
function folderOf(name, from) {
  const folder = `${from && `${from}/`}node_modules/${name}`;
  if (locked[folder] || from === '') return folder;
  return folderOf(name, from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))));
}

function collect(name, from, folders) {
  const folder = folderOf(name, from);
  // Not for this platform, or a peer that nobody wants.
  if (folders.has(folder) || !existsSync(join(root, folder))) return;
  folders.add(folder);
  const { dependencies, optionalDependencies, peerDependencies } = locked[folder];
  for (const next of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
    collect(next, folder, folders);
  }
}

const packagedNodes = Object.keys(locked[''].optionalDependencies).filter((name) => name.startsWith('node-'));
const folders = new Set();
for (const name of [...readJson('dist/bundle/packages.json'), ...packagedNodes]) collect(name, '', folders);

for (const folder of folders) {
  const source = join(root, folder);
  // Nested packages have entries of their own.
  const leftOut = ['node_modules', ...(packagedNodes.includes(basename(folder)) ? ['include', 'share'] : [])];
  const filter = (path) => path === source || !leftOut.includes(basename(path));
  cpSync(source, join(target, folder), { recursive: true, verbatimSymlinks: true, filter });
}
mkdirSync(join(target, 'node_modules/.bin'), { recursive: true });
for (const path of ['node_modules/.bin/node', 'dist/bundle', 'dist/web', 'package.json', '.npmrc']) {
  if (existsSync(join(root, path))) {
    cpSync(join(root, path), join(target, path), { recursive: true, verbatimSymlinks: true });
  }
}
