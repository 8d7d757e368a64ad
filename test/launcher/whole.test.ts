import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withDatabase } from '../../src/cli/database.js';
import type { Children } from '../../src/launcher/children.js';
import { isRunning } from '../../src/lib/process-stat.js';
import { putCluster } from '../support/cluster.js';
import { runCommand } from '../support/command.js';
import { INHERITED_ENV } from '../support/inherited-env.js';
import { until } from '../support/until.js';
import { launcherProgram, readJournal, temporaryFolder } from './support.js';

/** Only jobs is a real child, and only where a test looks at it. */
const SMALL = ['edge', 'platform', 'jobs'] as const;

/** The launcher in a separate process, with its real database. */
describe('npm start', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let launchers: ChildProcess[];
  beforeEach(() => {
    folder = temporaryFolder();
    launchers = [];
  });
  afterEach(async () => {
    for (const launcher of launchers) {
      if (launcher.exitCode === null && launcher.signalCode === null) {
        launcher.kill('SIGTERM');
        await until(() => launcher.exitCode !== null, { timeoutMs: 30_000 });
      }
    }
    folder.remove();
  });

  const dataDir = () => join(folder.path, 'data');
  const databasePid = (): number =>
    Number(readFileSync(join(dataDir(), 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);

  const start = (
    small: readonly (keyof Children)[] = ['edge', 'platform'],
  ): { process: ChildProcess; output(): string } => {
    const program = launcherProgram(folder.path, small);
    const launcher = spawn(process.execPath, [program], {
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...INHERITED_ENV, DATA_DIR: dataDir(), PORT: '0', LOG_LEVEL: 'error' },
    });
    launchers.push(launcher);
    let text = '';
    launcher.stdout!.on('data', (chunk) => {
      text += chunk;
    });
    return { process: launcher, output: () => text };
  };
  const ended = (launcher: ChildProcess) =>
    until(() => launcher.exitCode !== null || launcher.signalCode !== null, { timeoutMs: 30_000 });

  test('creates its database, serves, and on Ctrl-C to the whole group stops the database last and leaves no process', async () => {
    const { process: launcher, output } = start();
    await until(() => output().includes('Ready at'), { timeoutMs: 30_000 });
    expect(output()).toContain('PostgreSQL created');
    // The start doesn't wait long for jobs, which may be slow.
    await until(() => /jobs\s+http:\/\/127\.0\.0\.1:\d+/.test(output()), { timeoutMs: 30_000 });
    const database = databasePid();
    process.kill(-launcher.pid!, 'SIGINT');
    await ended(launcher);
    expect(launcher.exitCode).toBe(0);
    await until(() => !isRunning(database));
    const children = readJournal(folder.path);
    expect(children.filter(({ event }) => event === 'stopped').map(({ name }) => name)).toEqual([
      'edge',
      'platform',
    ]);
    expect(children.some(({ pid }) => isRunning(pid))).toBe(false);
    expect(existsSync(join(dataDir(), 'launcher.lock'))).toBe(false);
  });

  test('after a SIGKILL, starts again on the database that was left running, without its old children', async () => {
    await putCluster(dataDir());
    const first = start(SMALL);
    await until(() => first.output().includes('Ready at'), { timeoutMs: 30_000 });
    const database = databasePid();
    const old = readJournal(folder.path).map(({ pid }) => pid);
    first.process.kill('SIGKILL');
    await ended(first.process);
    const second = start(SMALL);
    await until(() => second.output().includes('Ready at'), { timeoutMs: 30_000 });
    expect(second.output()).toContain(
      `reusing the database left running by an earlier run (process ${database})`,
    );
    await until(() => !old.some(isRunning));
    second.process.kill('SIGTERM');
    await ended(second.process);
    expect(second.process.exitCode).toBe(0);
    await until(() => !isRunning(database));
  });

  test('prints the command that makes an account an administrator, until there is one', async () => {
    await putCluster(dataDir());
    const first = start(SMALL);
    await until(() => first.output().includes('Press Ctrl-C'), { timeoutMs: 30_000 });
    const [, command] = /Admin +none yet\. To make an account an administrator: (.+)/.exec(first.output())!;
    expect(command).toBe(`DATA_DIR='${dataDir()}' npm run admin -- user EMAIL role=admin`);
    const email = 'ada@example.com';
    await withDatabase({ databaseDirectUrl: null, dataDir: dataDir() }, 'test', async (orm) => {
      await orm.em.execute(
        `insert into accounts (id, email, email_key, name, created_at) values (gen_random_uuid(), ?, ?, 'Ada', now())`,
        [email, email],
      );
    });
    const words = command!.replace('EMAIL', email).split(' -- ')[1]!.split(' ');
    const granted = await runCommand('admin', words, { DATA_DIR: dataDir() });
    expect([granted.code, JSON.parse(granted.output)]).toMatchObject([0, { email, role: 'admin' }]);
    const log = await runCommand('admin', ['actions'], { DATA_DIR: dataDir() });
    expect(JSON.parse(log.output)).toMatchObject([{ action: 'account.update', source: 'command_line' }]);
    first.process.kill('SIGTERM');
    await ended(first.process);
    const second = start(SMALL);
    await until(() => second.output().includes('Press Ctrl-C'), { timeoutMs: 30_000 });
    expect(second.output()).not.toContain('administrator');
  });
});
