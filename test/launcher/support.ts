import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config.js';
import type { Children, describeChildren } from '../../src/launcher/children.js';
import { type Launcher, type LaunchOptions, launch } from '../../src/launcher/launch.js';
import { createReporter } from '../../src/launcher/reporter.js';
import type { ChildSpec } from '../../src/launcher/supervisor.js';
import { urlInDist } from '../support/dist.js';

/** A folder that PostgreSQL's unprivileged user may enter, also when the tests run as root. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'gateway-launch-'));
  chmodSync(path, 0o755);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/**
 * A replacement for a real process. It logs what happens to it in `journal`, reports that it is ready, replies to pings, and
 * ends on SIGTERM and when the launcher is gone, as real ones do. `behaviour` is code that runs first.
 */
export function script(folder: string, name: string, behaviour = ''): string {
  const path = join(folder, `${name}.mjs`);
  writeFileSync(
    path,
    `import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { announceReady, tellParent } from ${JSON.stringify(urlInDist('lib/lifecycle.js'))};
const folder = ${JSON.stringify(folder)};
const journal = (text) => appendFileSync(folder + '/journal', text + ' ' + process.pid + '\\n');
const end = (why) => { journal('${name} ' + why); process.exit(0); };
process.on('SIGTERM', () => end('stopped'));
process.on('disconnect', () => end('orphaned'));
journal('${name} started');
${behaviour}
announceReady('http://${name}');
setInterval(() => undefined, 1000);
`,
  );
  return path;
}

export interface JournalLine {
  name: string;
  event: string;
  pid: number;
}

export function readJournal(folder: string): JournalLine[] {
  const path = join(folder, 'journal');
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [name, event, pid] = line.split(' ') as [string, string, string];
      return { name, event, pid: Number(pid) };
    });
}

export type Limits = Partial<Pick<ChildSpec, 'stopPatienceMs' | 'hungAfterMs'>>;

export function spec(folder: string, name: string, behaviour = '', limits: Limits = {}): ChildSpec {
  const entry = script(folder, name, behaviour);
  return { name, entry, env: process.env, stopPatienceMs: 5_000, hungAfterMs: 0, ...limits };
}

/** Three small processes instead of edge, platform and jobs. */
export function fakeChildren(
  folder: string,
  behaviour: Partial<Record<keyof Children, string>> = {},
): typeof describeChildren {
  return () => ({
    edge: spec(folder, 'edge', behaviour.edge),
    platform: spec(folder, 'platform', behaviour.platform),
    jobs: spec(folder, 'jobs', behaviour.jobs),
  });
}

/**
 * A program like `npm start`, with small processes for the named children. Launcher, database and lock are real.
 * @returns The program's path.
 */
export function launcherProgram(folder: string, small: readonly (keyof Children)[]): string {
  const entries = Object.fromEntries(small.map((name) => [name, script(folder, name)]));
  const program = join(folder, 'start.mjs');
  const module = (name: string): string => JSON.stringify(urlInDist(`${name}.js`));
  writeFileSync(
    program,
    `import { loadConfigOrExit } from ${module('config')};
import { describeChildren } from ${module('launcher/children')};
import { launch } from ${module('launcher/launch')};
import { createReporter } from ${module('launcher/reporter')};
const entries = ${JSON.stringify(entries)};
const describe = (...args) => Object.fromEntries(Object.entries(describeChildren(...args)).map(
  ([name, spec]) => [name, entries[name] ? { ...spec, entry: entries[name] } : spec]));
const launcher = launch({ config: loadConfigOrExit('launcher'), reporter: createReporter(process.stdout), describe });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => launcher.stop(signal));
process.exitCode = await launcher.ended;
`,
  );
  return program;
}

export interface TestLaunch {
  launcher: Launcher;
  /** The output at the terminal. */
  output(): string;
}

/** Launches in this process. `databaseUrl` avoids the embedded database in tests that are not about it. */
export function testLaunch(
  dataDir: string,
  describe: typeof describeChildren,
  env: NodeJS.ProcessEnv = {},
  options: Pick<LaunchOptions, 'portPatienceMs'> = {},
): TestLaunch {
  let text = '';
  const config = loadConfig(
    {
      PORT: '0',
      DATA_DIR: dataDir,
      DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
      PASSWORD_HASH_PROFILE: 'test',
      ...env,
    },
    'launcher',
  );
  const reporter = createReporter({
    write: (part) => {
      text += part;
    },
  });
  const backOff = { firstMs: 20, maxMs: 80, resetAfterMs: 30_000 };
  return { launcher: launch({ config, reporter, describe, backOff, ...options }), output: () => text };
}
