/**
 * Brings a checkout to the point where it can start: installs packages and compiles, each only when something
 * changed. Runs before every start and test, on the system's Node (20 or newer) and without any package.
 *
 *   node scripts/bootstrap.mjs [--with-tests] [--quiet]
 *   node scripts/bootstrap.mjs --packages    only the packages, those of tests and checks, too
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { install } from './install.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const modules = join(root, 'node_modules');
const quiet = process.argv.includes('--quiet');
const packagesOnly = process.argv.includes('--packages');
const withTests = packagesOnly || process.argv.includes('--with-tests');
const LOCK_PATIENCE_MS = 15 * 60_000;
const LOCK_POLL_MS = 100;

const say = (line) => {
  if (!quiet) process.stdout.write(`${line}\n`);
};
const seconds = (sinceMs) => `${((Date.now() - sinceMs) / 1000).toFixed(1)} s`;
const readText = (path) => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR' || error.code === 'ESRCH') return undefined;
    throw error;
  }
};
/** What a file of ours says; nothing where it isn't there, is cut or says something else. */
const readJson = (path, read) => {
  try {
    return read(JSON.parse(readText(path)));
  } catch {
    return undefined;
  }
};
/** A reader never sees half a file. */
const writeWhole = (path, text) => {
  writeFileSync(`${path}.${process.pid}`, text);
  renameSync(`${path}.${process.pid}`, path);
};

class Failure extends Error {}

// --- Lock: `npm start` and `npm test` at once take turns -------------------------------------------------------

// Beside node_modules, not in it: `npm ci` empties that folder.
const lockPath = join(root, '.bootstrap.lock');

/**
 * State of a process, and its start in clock ticks, which tells it from a later one with the same number; nothing where
 * the system doesn't say. As in src/lib/process-stat.ts, which isn't built yet.
 */
function statOf(pid) {
  const stat = readText(`/proc/${pid}/stat`);
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields?.[0], start: fields?.[19] };
}

/** A process as the lock names it. */
const nameOf = (pid) => `${pid} ${statOf(pid).start ?? ''}\n`;

function isAlive(name) {
  const [pid, start] = name.split(' ');
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    if (error.code !== 'EPERM') return false;
  }
  const { state, start: now } = statOf(pid);
  // Ended, and its parent didn't ask for the outcome: such a number stays taken, in a container for ever.
  if (state === 'Z' || state === 'X' || state === 'x') return false;
  return now === undefined || !start || now === start;
}

/**
 * Number of the process that a lock belongs to: its holder, or a program that the holder ran and that goes on without it;
 * nothing when they are all gone.
 */
const ownerOf = (lock) => lock.trim().split('\n').find(isAlive)?.split(' ')[0];

/** Removes a dead holder's lock, and no other: what was moved away is looked at before it goes. */
function clearStale(seen) {
  const aside = `${lockPath}.${process.pid}.stale`;
  try {
    renameSync(lockPath, aside);
    if (readText(aside) !== seen) linkSync(aside, lockPath);
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

async function takeLock() {
  const draft = `${lockPath}.${process.pid}`;
  writeFileSync(draft, nameOf(process.pid));
  const began = Date.now();
  try {
    for (let said = false; ; ) {
      try {
        linkSync(draft, lockPath);
        return () => rmSync(lockPath, { force: true });
      } catch (error) {
        if (error.code !== 'EEXIST') throw error;
      }
      const holder = readText(lockPath);
      if (holder === undefined) continue;
      const owner = ownerOf(holder);
      if (owner === undefined) {
        clearStale(holder);
        continue;
      }
      if (Date.now() - began > LOCK_PATIENCE_MS) {
        throw new Failure(`process ${owner} holds ${lockPath} too long: stop it and try again`);
      }
      if (!said) say(`  waiting     another start installs or builds at the moment (process ${owner})`);
      said = true;
      await new Promise((done) => setTimeout(done, LOCK_POLL_MS));
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

// --- Running a program -----------------------------------------------------------------------------------------

const running = new Set();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    for (const child of running) child.kill(signal);
    // Theirs until they have ended.
    if (running.size === 0) releaseLock?.();
    process.exit(signal === 'SIGINT' ? 130 : 143);
  });
}

/** Runs a program and collects what it prints. */
function run(command, args) {
  return new Promise((done) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    running.add(child);
    if (child.pid !== undefined) appendFileSync(lockPath, nameOf(child.pid));
    let output = '';
    const collect = (chunk) => {
      output += chunk;
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (error) => done({ ok: false, output: `${output}${error.message}\n` }));
    child.on('close', (code) => {
      running.delete(child);
      done({ ok: code === 0, output });
    });
  });
}

// --- Build -----------------------------------------------------------------------------------------------------

function filesBelow(folder, ending) {
  if (!existsSync(folder)) return [];
  const found = [];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...filesBelow(path, ending));
    else if (ending.test(entry.name)) found.push(path);
  }
  return found.sort();
}

/** Whatever is built depends on the packages. */
function lockfileStamp() {
  const lockfile = readText(join(root, 'package-lock.json')) ?? readText(join(root, 'package.json'));
  return createHash('sha256').update(`${process.platform} ${process.arch}\n${lockfile}`).digest('hex');
}

const SOURCE = /(?<!\.d)\.tsx?$/;
const webOutput = join(root, 'dist', 'web');
const bundleOutput = join(root, 'dist', 'bundle');
/** Made by web/tools and by scripts/bundle.mjs, which know by themselves what belongs there. */
const bundledFolders = [bundleOutput, webOutput].flatMap((folder) => [folder, `${folder}.draft`]);

/** Compiled files whose source is gone would still run: old tests, old migrations. */
function prune(output, expected) {
  for (const path of filesBelow(output, /\.js$/)) {
    if (expected.has(path) || bundledFolders.some((folder) => path.startsWith(folder + sep))) continue;
    rmSync(path);
    rmSync(`${path}.map`, { force: true });
  }
}

const stampOf = (output) => join(root, output, '.build-stamp');

/** Marks a build whose types the compiler hasn't checked. Only tests begin with it: they bring the check. */
const UNCHECKED = ' unchecked';

async function build({ project, output, folders, base, isChecked = true }) {
  const out = join(root, output);
  const sources = folders.flatMap((folder) => filesBelow(join(root, folder), /\.(?:tsx?|json)$/));
  const hash = createHash('sha256').update(lockfileStamp());
  for (const path of ['tsconfig.json', project].map((name) => join(root, name)).concat(sources)) {
    hash
      .update(`${path.slice(root.length)}\0`)
      .update(readFileSync(path))
      .update('\0');
  }
  const stamp = hash.digest('hex');
  const stampPath = stampOf(output);
  const expected = sources
    .filter((path) => SOURCE.test(path))
    .map((path) => join(out, path.slice(join(root, base).length).replace(/\.tsx?$/, '.js')));
  const complete = expected.every((path) => existsSync(path));
  const built = readText(stampPath)?.trim();
  if (complete && (built === stamp || (!isChecked && built === stamp + UNCHECKED))) return;
  const began = Date.now();
  // The compiler's memory of what it emitted is wrong once something of that is gone.
  if (!complete) rmSync(join(out, '.tsbuildinfo'), { force: true });
  rmSync(stampPath, { force: true });
  const tsc = join(modules, 'typescript', 'bin', 'tsc');
  const node = existsSync(process.execPath) ? process.execPath : 'node';
  const pretty = String(Boolean(process.stderr.isTTY));
  const flags = isChecked ? [] : ['--noCheck'];
  const result = await run(node, [tsc, '-p', project, '--pretty', pretty, ...flags]);
  if (!result.ok)
    throw new Failure(`${result.output.trim()}\n\nTypeScript found errors: nothing was started.`);
  prune(out, new Set(expected));
  mkdirSync(out, { recursive: true });
  writeWhole(stampPath, `${stamp}${isChecked ? '' : UNCHECKED}\n`);
  say(`  built       ${output} in ${seconds(began)}`);
}

// --- Programs with their packages ------------------------------------------------------------------------------

/** What the last bundle consists of, unless something of it is gone. */
function bundledFiles() {
  return readJson(
    join(bundleOutput, 'files.json'),
    (files) => files.length > 0 && files.every((name) => existsSync(join(bundleOutput, name))),
  );
}

/** Bundles the compiled programs into dist/bundle, on the Node of the packages. */
async function bundle() {
  const script = join(root, 'scripts', 'bundle.mjs');
  if (!existsSync(script)) return;
  const stampPath = join(bundleOutput, '.build-stamp');
  const stamp = createHash('sha256')
    .update(readText(stampOf('dist'))?.replace(UNCHECKED, '') ?? '')
    .update(readFileSync(script))
    .digest('hex');
  if (bundledFiles() && readText(stampPath)?.trim() === stamp) return;
  const began = Date.now();
  const result = await run(packagedNode(), [script]);
  if (!result.ok) throw new Failure(`${result.output.trim()}\n\nThe programs could not be bundled.`);
  writeWhole(stampPath, `${stamp}\n`);
  say(`  built       ${join('dist', 'bundle')} in ${seconds(began)}`);
}

// --- Web build -------------------------------------------------------------------------------------------------

/** The Node that the packages bring: Vite and Rolldown want a newer one than the system may have. */
function packagedNode() {
  const packaged = join(modules, '.bin', process.platform === 'win32' ? 'node.exe' : 'node');
  return existsSync(packaged) ? packaged : process.execPath;
}

const webGenerated = join(root, 'web', 'generated');

/** What the last web build says of itself, unless something of it is gone. */
function webManifest() {
  return readJson(join(webOutput, 'manifest.json'), (manifest) => {
    const files = manifest.assets.flatMap(({ path, encodings }) => [
      path,
      ...encodings.map((encoding) => `${path}.${encoding}`),
    ]);
    const all = [...Object.values(manifest.pages), manifest.persisted, ...files];
    return all.every((file) => existsSync(join(webOutput, file))) ? manifest : undefined;
  });
}

/** Of everything that the pages are made of; `inputs` are the sources outside web/ that the build reads. */
function webStamp(inputs) {
  const own = filesBelow(join(root, 'web'), /./).filter((path) => !path.startsWith(webGenerated + sep));
  const others = ['schema/schema.graphql', ...inputs].map((path) => join(root, path));
  const hash = createHash('sha256').update(lockfileStamp());
  for (const path of [...own, ...others]) {
    hash
      .update(`${path.slice(root.length)}\0`)
      .update(readText(path) ?? '')
      .update('\0');
  }
  return hash.digest('hex');
}

/** Bundles web/ into dist/web, on the Node of the packages. */
async function buildWeb() {
  const script = join(root, 'web', 'tools', 'main.mjs');
  // A part of the checkout, such as the image of a single process, may do without pages.
  if (!existsSync(script)) return;
  const stampPath = join(webOutput, '.build-stamp');
  const last = webManifest();
  if (last && existsSync(webGenerated) && readText(stampPath)?.trim() === webStamp(last.inputs)) return;
  const began = Date.now();
  const result = await run(packagedNode(), [script]);
  if (!result.ok) throw new Failure(`${result.output.trim()}\n\nThe web pages could not be built.`);
  writeWhole(stampPath, `${webStamp(webManifest().inputs)}\n`);
  say(`  built       ${join('dist', 'web')} in ${seconds(began)}`);
}

// --- All of it -------------------------------------------------------------------------------------------------

/** Waits for all: none is left running when another fails. */
async function together(builds) {
  const failed = (await Promise.allSettled(builds)).find(({ status }) => status === 'rejected');
  if (failed) throw failed.reason;
}

let releaseLock;
try {
  const [major] = process.versions.node.split('.').map(Number);
  if (major < 20) throw new Failure(`Node.js 20 or newer is needed, this is ${process.versions.node}`);
  releaseLock = await takeLock();
  const failure = await install({ root, withTests, run, say });
  if (failure) throw new Failure(failure);
  const product = { project: 'tsconfig.json', output: 'dist', folders: ['src'], base: 'src' };
  const tests = { project: 'tsconfig.test.json', output: 'build', folders: ['src', 'test'], base: '.' };
  const compile = async () => {
    if (!withTests) {
      await build(product);
      await bundle();
      return;
    }
    // Checking is five sixths of the compiler's work. The tests are compiled with the sources, which are checked then.
    await build({ ...product, isChecked: false });
    await together([bundle(), build(tests)]);
    const stampPath = stampOf(product.output);
    const built = readText(stampPath);
    if (built?.includes(UNCHECKED)) writeWhole(stampPath, built.replace(UNCHECKED, ''));
  };
  if (!packagesOnly) await together([compile(), buildWeb()]);
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
} finally {
  releaseLock?.();
}
