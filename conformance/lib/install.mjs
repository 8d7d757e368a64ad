import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('..', import.meta.url));
const LEAN = ['--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund'];
const mark = `${folder}node_modules/.installed`;

/**
 * Installs the suites when their lock has changed. No script of a package runs, and what is optional stays away: promptfoo alone
 * would bring SDKs of two dozen vendors. Of the optional packages only the one that it stores results with is wanted.
 */
export function install() {
  const wanted = createHash('sha256')
    .update(readFileSync(`${folder}package-lock.json`))
    .digest('hex');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return;
  process.stdout.write('Installing the suites …\n');
  npm('ci', ...LEAN);
  npm('install', ...LEAN, '--no-save', storeOfPromptfoo());
  writeFileSync(mark, wanted);
}

/** What promptfoo keeps results with: one optional package per platform, in the version of the lock. */
function storeOfPromptfoo() {
  const { packages } = JSON.parse(readFileSync(`${folder}package-lock.json`, 'utf8'));
  const libc = process.report.getReport().header.glibcVersionRuntime ? 'gnu' : 'musl';
  const found = Object.entries(packages).find(
    ([path, { os, cpu }]) =>
      path.startsWith('node_modules/@libsql/') &&
      os?.includes(process.platform) &&
      cpu?.includes(process.arch) &&
      (process.platform !== 'linux' || path.endsWith(libc)),
  );
  if (!found) throw new Error(`promptfoo has no store for ${process.platform} on ${process.arch}`);
  return `${found[0].replace('node_modules/', '')}@${found[1].version}`;
}

function npm(...words) {
  const { status } = spawnSync('npm', words, { cwd: folder, stdio: 'inherit' });
  if (status !== 0) throw new Error(`npm ${words[0]} failed in conformance/`);
}

/** The version of an installed package. */
export const versionOf = (name) =>
  JSON.parse(readFileSync(`${folder}node_modules/${name}/package.json`, 'utf8')).version;
