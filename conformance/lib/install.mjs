import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('..', import.meta.url));
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
  npm('ci', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund');
  writeFileSync(mark, wanted);
}

function npm(...words) {
  const { status } = spawnSync('npm', words, { cwd: folder, stdio: 'inherit' });
  if (status !== 0) throw new Error(`npm ${words[0]} failed in conformance/`);
}

/** The version of an installed package. */
export const versionOf = (name) =>
  JSON.parse(readFileSync(`${folder}node_modules/${name}/package.json`, 'utf8')).version;
