/**
 * Bundles each program of dist/ with its packages into dist/bundle: a process then loads some ten files in place of a
 * thousand, and is up in a third of the time (docs/decisions/0086). Run by scripts/bootstrap.mjs after the compiler.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const compiled = join(root, 'dist');
const output = join(compiled, 'bundle');
// One build at a time: scripts/bootstrap.mjs holds its lock.
const draft = `${output}.draft`;

const programs = [
  'start',
  'launcher/edges',
  'launcher/restart-edges',
  ...['gateway', 'platform', 'jobs', 'proxy', 'worker'].map((name) => `${name}/main`),
  ...readdirSync(join(compiled, 'cli'))
    .filter((name) => name.endsWith('.js'))
    .map((name) => `cli/${name.slice(0, -'.js'.length)}`),
];

/** Packages that look for files of their own beside them, or are native. They load from node_modules as ever. */
const LEFT_ALONE = ['@fastify/swagger', '@node-rs/argon2', 'ioredis', 'pino'];

/** Not installed: what packages would load if we asked them to. */
const NEVER_USED = ['pg-native', 'class-validator'];

/** How undici asks whether there is such a name. */
const HARMLESS = 'typeof __filename !== "undefined" ? __filename';

const ourClasses = new Set(
  ['entities', 'graphql']
    .map((folder) => join(compiled, folder))
    .flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, name)))
    .filter((path) => path.endsWith('.js'))
    .flatMap((path) => [...readFileSync(path, 'utf8').matchAll(/\bclass (\w+)/g)])
    .map(([, name]) => name),
);

/**
 * An `import` of node:http reads each of its exports, WebSocket among them, for which Node loads a client of its own: a
 * tenth of the time that a process needs to start. Programs take what they use from the module itself.
 */
const HTTP = '\0http';
const httpExports = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule('node:http')))
  .filter(([, descriptor]) => 'value' in descriptor)
  .map(([name]) => name);
const lazyHttp = {
  name: 'lazy-http',
  resolveId: (id, _importer, { kind }) =>
    (id === 'node:http' || id === 'http') && kind === 'import-statement' ? HTTP : undefined,
  load: (id) =>
    id === HTTP
      ? `const http = process.getBuiltinModule('node:http');
export default http;
export const { ${httpExports.join(', ')} } = http;`
      : undefined,
};

const asLatin1 = (code) =>
  code.replace(/[^\0-\xff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

const bundle = await rolldown({
  input: Object.fromEntries(programs.map((name) => [name, join(compiled, `${name}.js`)])),
  platform: 'node',
  plugins: [lazyHttp],
  external: (id) => LEFT_ALONE.includes(id) || NEVER_USED.includes(id),
  onLog(level, log) {
    // A missing file or export is found here instead of at the first call.
    if (level === 'warn' && log.code !== 'EVAL') throw new Error(log.message);
  },
});
rmSync(draft, { recursive: true, force: true });
mkdirSync(draft, { recursive: true });
const { output: files } = await bundle.write({
  dir: draft,
  format: 'esm',
  sourcemap: true,
  comments: { legal: true, annotation: false, jsdoc: false },
  entryFileNames: '[name].js',
  chunkFileNames: 'shared/[name]-[hash].js',
});
for (const { fileName, code } of files) {
  // V8 keeps a source with a character outside of Latin-1 at two bytes for each.
  if (code) writeFileSync(join(draft, fileName), asLatin1(code));
  if (code && /\b__(?:dirname|filename)\b/.test(code.replaceAll(HARMLESS, '')))
    throw new Error(`${fileName}: a package looks for files beside it: leave it alone`);
  // MikroORM and type-graphql call things by the names of their classes. Of two of one name in a chunk one gets another.
  for (const [, name] of code?.matchAll(/\bclass (\w+)\$\d/g) ?? []) {
    if (ourClasses.has(name))
      throw new Error(`${fileName}: another class is called ${name} too: rename ours`);
  }
}
writeFileSync(join(draft, 'files.json'), JSON.stringify(files.map(({ fileName }) => fileName)));
// What an image needs beside the bundle (scripts/runtime.mjs).
writeFileSync(join(draft, 'packages.json'), JSON.stringify(LEFT_ALONE));
rmSync(output, { recursive: true, force: true });
renameSync(draft, output);
