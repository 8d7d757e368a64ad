/**
 * Installs packages for scripts/bootstrap.mjs: what building and running needs (`dependencies`), and for tests and checks the
 * rest (`devDependencies`), each only if npm's own record of node_modules lacks it (docs/decisions/0208).
 */
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

/** The packages of a lockfile, by folder. npm writes one of what it has installed into node_modules. */
function packagesOf(lockfile) {
  try {
    return JSON.parse(readFileSync(lockfile, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** Whether an optional package is for this machine by its own account. */
const isForThisMachine = ({ os, cpu, libc }) =>
  // npm knows which C library this is; at least the packages of PostgreSQL and Node don't depend on that.
  !libc && os?.includes(process.platform) && cpu?.includes(process.arch);

function isComplete({ locked, installed, withDev }) {
  return Object.entries(locked).every(([folder, wanted]) => {
    if (folder === '' || (wanted.dev && !withDev)) return true;
    const found = installed[folder];
    if (found) return found.version === wanted.version && found.integrity === wanted.integrity;
    return (wanted.optional || wanted.devOptional) && !isForThisMachine(wanted);
  });
}

/** npm as this script was called by; its own Node, since `npm ci` deletes the one in node_modules/.bin. */
function npmCommand(modules) {
  const cli = process.env.npm_execpath;
  if (cli?.endsWith('.js') && existsSync(cli) && /npm[\\/]bin[\\/]/.test(cli)) {
    const inside = process.execPath.startsWith(modules + sep);
    const node = inside ? process.env.npm_node_execpath : process.execPath;
    if (node && existsSync(node) && !node.startsWith(modules + sep)) return [node, cli];
  }
  return [process.platform === 'win32' ? 'npm.cmd' : 'npm'];
}

/**
 * Returns the reason if the packages could not be installed.
 * @param run runs a program and returns whether it succeeded, and its output
 */
export async function install({ root, withTests, run, say }) {
  const modules = join(root, 'node_modules');
  // A linked node_modules belongs to another checkout, which keeps it up to date.
  if (existsSync(modules) && lstatSync(modules).isSymbolicLink()) return undefined;
  const installed = packagesOf(join(modules, '.package-lock.json'));
  const locked = packagesOf(join(root, 'package-lock.json'));
  if (locked && installed && isComplete({ locked, installed, withDev: withTests })) return undefined;

  const began = Date.now();
  say(`  installing  packages${installed ? '' : ' (about half a minute on a fresh machine)'} …`);
  // A start keeps the packages of tests.
  const withDev = withTests || Object.values(installed ?? {}).some(({ dev }) => dev);
  const flags = [withDev ? '--include=dev' : '--omit=dev', '--include=optional', '--loglevel=error'];
  // `npm ci` would delete the packages of a product that runs. The other way is for a lockfile that doesn't fit this platform.
  const adding = ['install', '--no-save'];
  const ways = installed ? [adding, ['ci']] : [['ci'], adding];
  const [command, ...prefix] = npmCommand(modules);
  const failures = [];
  for (const way of ways) {
    const { ok, output } = await run(command, [...prefix, ...way, ...flags]);
    if (ok) {
      say(`  installed   packages in ${((Date.now() - began) / 1000).toFixed(1)} s`);
      return undefined;
    }
    say(`  installing  npm ${way[0]} failed …`);
    failures.push(`npm ${way[0]}:\n${output.trim()}`);
  }
  return `npm could not install the packages.\n\n${failures.join('\n\n')}`;
}
