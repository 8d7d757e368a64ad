import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { leftBehind, stopServer } from '../../src/db/server-process.js';
import { LockedError, takeLock } from '../../src/lib/lock-file.js';
import { isRunning, isStillRunning, processStat } from '../../src/lib/process-stat.js';
import { isGone, ownIdentity } from '../../src/metering/owner.js';
import { putCluster } from '../support/cluster.js';
import { INHERITED_ENV } from '../support/inherited-env.js';
import { descendantsOf } from '../support/process-tree.js';
import { startUnreaped, type Unreaped } from '../support/unreaped.js';
import { until } from '../support/until.js';
import { launcherProgram, temporaryFolder } from './support.js';

const LOCK = new URL('../../src/lib/lock-file.js', import.meta.url).href;

/** In a container without an init, a killed process stays a zombie and keeps its pid as long as the container runs. */
describe('a process that was killed and that nobody reaps', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let unreaped: Unreaped | undefined;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(async () => {
    await unreaped?.release();
    unreaped = undefined;
    folder.remove();
  });

  const sleeper = async (): Promise<Unreaped> => {
    unreaped = await startUnreaped('sleep', ['600']);
    return unreaped;
  };

  test('does not count as running, though its pid is taken', async () => {
    const { pid, kill } = await sleeper();
    const { startTime } = processStat(pid)!;
    expect(isRunning(pid) && isStillRunning(pid, startTime)).toBe(true);
    expect(isStillRunning(pid, String(Number(startTime) - 1))).toBe(false);
    await kill();
    expect(process.kill(pid, 0)).toBe(true);
    expect(isRunning(pid)).toBe(false);
    expect(isStillRunning(pid, startTime)).toBe(false);
  });

  test('does not own a spool any more', async () => {
    const { pid, kill } = await sleeper();
    const owner = { ...ownIdentity(), pid, startTime: processStat(pid)!.startTime };
    expect(isGone(owner, ownIdentity())).toBe(false);
    await kill();
    expect(isGone(owner, ownIdentity())).toBe(true);
  });

  test('is not adopted as a database, and needs no stop', async () => {
    // The folder is in its command line, as in PostgreSQL's.
    const wait = `setInterval(() => {}, 1e6)`;
    unreaped = await startUnreaped(process.execPath, ['-e', wait, folder.path]);
    const { pid, kill } = unreaped;
    writeFileSync(join(folder.path, 'postmaster.pid'), `${pid}\n${folder.path}\n1\n5432\n`);
    await until(() => leftBehind(folder.path)?.pid === pid);
    await kill();
    expect(leftBehind(folder.path)).toBeUndefined();
    await stopServer(pid);
  });

  test('does not hold a start lock any more', async () => {
    const path = join(folder.path, 'launcher.lock');
    const code = `const { takeLock } = await import(${JSON.stringify(LOCK)});
      takeLock(${JSON.stringify(path)}, 'here');
      console.log('taken');
      setInterval(() => {}, 1e6);`;
    unreaped = await startUnreaped(process.execPath, ['--input-type=module', '-e', code]);
    const { output, kill } = unreaped;
    await until(() => output().includes('taken'));
    expect(() => takeLock(path, 'there')).toThrow(LockedError);
    await kill();
    const release = takeLock(path, 'there');
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ pid: process.pid, note: 'there' });
    release();
  });

  test('does not keep the launcher from starting after a SIGKILL of everything', async () => {
    const dataDir = join(folder.path, 'data');
    mkdirSync(dataDir);
    await putCluster(dataDir);
    // A start meets lock and database of an earlier one, so the other processes may be small.
    const program = launcherProgram(folder.path, ['edge', 'platform', 'jobs']);
    const env = { ...INHERITED_ENV, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'error' };
    unreaped = await startUnreaped(process.execPath, [program], env);
    const { pid, output, kill } = unreaped;
    await until(() => output().includes('Ready at'), { timeoutMs: 30_000 });
    const database = Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
    const others = [database, ...descendantsOf(pid), ...descendantsOf(database)];
    await kill();
    for (const other of others) if (isRunning(other)) process.kill(other, 'SIGKILL');
    await until(() => !others.some(isRunning));

    const again = start(program, env);
    try {
      await until(() => again.output().includes('Ready at') || again.launcher.exitCode !== null, {
        timeoutMs: 30_000,
      });
      expect(again.output()).not.toContain('already running');
      expect(again.output()).toContain('Ready at');
      expect(processStat(pid)?.state).toBe('Z');
    } finally {
      again.launcher.kill('SIGTERM');
      await until(() => again.launcher.exitCode !== null, { timeoutMs: 30_000 });
    }
    expect(again.launcher.exitCode).toBe(0);
  }, 90_000);

  const start = (program: string, env: NodeJS.ProcessEnv): { launcher: ChildProcess; output(): string } => {
    const launcher = spawn(process.execPath, [program], { detached: true, env });
    let output = '';
    for (const stream of [launcher.stdout, launcher.stderr]) stream.on('data', (chunk) => (output += chunk));
    return { launcher, output: () => output };
  };
});
