/**
 * Installs packages for scripts/bootstrap.mjs: what building and running needs (`dependencies`), and for tests and checks the
 * rest (`devDependencies`), each only if node_modules lacks it (docs/decisions/0208).
 */
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';

const readText = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : '');

/** Whether an optional package is for this machine by its own account. */
const isForThisMachine = ({ os, cpu, libc }) =>
  // npm knows which C library this is; at least the packages of PostgreSQL and Node don't depend on that.
  !libc && os?.includes(process.platform) && cpu?.includes(process.arch);

/** The packages of the lockfile, and which of them are in node_modules. */
function readPackages(root) {
  const lockfile = readText(join(root, 'package-lock.json'));
  if (lockfile === '') return undefined;
  const { '': _root, ...locked } = JSON.parse(lockfile).packages;
  return Object.entries(locked).map(([folder, wanted]) => {
    const manifest = readText(join(root, folder, 'package.json'));
    return { ...wanted, installed: manifest === '' ? undefined : JSON.parse(manifest).version };
  });
}

const isComplete = (packages, withDev) =>
  packages?.every((wanted) => {
    if (wanted.dev && !withDev) return true;
    if (wanted.installed) return wanted.installed === wanted.version;
    return (wanted.optional || wanted.devOptional) && !isForThisMachine(wanted);
  });

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
  const record = join(modules, '.package-lock.json');
  const stampPath = join(modules, '.install-stamp');
  /** Differs after a change of the lockfile, and after whatever npm did since. */
  const stampOf = (withDev) =>
    createHash('sha256')
      .update(`${process.platform} ${process.arch} ${withDev}\n${readText(join(root, 'package-lock.json'))}`)
      .update(readText(record))
      .digest('hex');
  const stamp = readText(stampPath);
  if (stamp === stampOf(true) || (!withTests && stamp === stampOf(false))) return undefined;

  const before = readPackages(root);
  // A start keeps the packages of tests.
  const withDev = withTests || before?.some(({ dev, installed }) => dev && installed) === true;
  const finish = () => writeFileSync(stampPath, stampOf(withDev));
  if (isComplete(before, withDev)) return finish();

  const began = Date.now();
  const isFirst = !existsSync(record);
  say(`  installing  packages${isFirst ? ' (about half a minute on a fresh machine)' : ''} …`);
  const flags = [withDev ? '--include=dev' : '--omit=dev', '--include=optional', '--loglevel=error'];
  // `npm ci` would delete the packages of a product that runs. The other way is for a lockfile that doesn't fit this platform.
  const adding = ['install', '--no-save'];
  const [command, ...prefix] = npmCommand(modules);
  const failures = [];
  for (const way of isFirst ? [['ci'], adding] : [adding, ['ci']]) {
    const { ok, output } = await run(command, [...prefix, ...way, ...flags]);
    // npm adds nothing if its record of node_modules is wrong, as after `npm install --package-lock-only`.
    if (ok && (way !== adding || isFirst || isComplete(readPackages(root), withDev))) {
      say(`  installed   packages in ${((Date.now() - began) / 1000).toFixed(1)} s`);
      return finish();
    }
    say(`  installing  npm ${way[0]} was not enough …`);
    failures.push(`npm ${way[0]}:\n${output.trim()}`);
  }
  return `npm could not install the packages.\n\n${failures.join('\n\n')}`;
}
