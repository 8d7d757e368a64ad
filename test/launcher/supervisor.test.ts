import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SupervisedChild, type SuperviseOptions, supervise } from '../../src/launcher/supervisor.js';
import { isRunning } from '../../src/lib/process-stat.js';
import { urlInDist } from '../support/dist.js';
import { until } from '../support/until.js';
import { type Limits, readJournal, spec, temporaryFolder } from './support.js';

describe('a supervised process', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let child: SupervisedChild | undefined;
  let lines: string[];
  let fatal: string[];
  beforeEach(() => {
    folder = temporaryFolder();
    lines = [];
    fatal = [];
  });
  afterEach(async () => {
    await child?.stop();
    folder.remove();
  });

  const options = (resetAfterMs = 60_000): SuperviseOptions => ({
    say: (line) => lines.push(line),
    onFatal: (name, code) => fatal.push(`${name} ${code}`),
    backOff: { firstMs: 10, maxMs: 40, resetAfterMs },
  });
  const start = (behaviour = '', limits?: Limits, resetAfterMs?: number) =>
    supervise(spec(folder.path, 'worker', behaviour, limits), options(resetAfterMs));
  const starts = () => readJournal(folder.path).filter(({ event }) => event === 'started');

  test('a killed process is restarted, and each event is reported in one line', async () => {
    child = start();
    expect(await child.ready).toBe('http://worker');
    process.kill(child.pid()!, 'SIGKILL');
    await until(() => lines.includes('worker is back'));
    expect(lines).toEqual(['worker exited (SIGKILL); restarting it in 0.01 s', 'worker is back']);
    expect(starts()).toHaveLength(2);
  });

  test('notes of a process are passed on', async () => {
    child = start(`process.send({ type: 'note', line: 'a word' });`);
    await child.ready;
    expect(lines).toEqual(['a word']);
  });

  test('a process that keeps crashing waits longer each time, up to the limit', async () => {
    const broken = join(folder.path, 'broken');
    writeFileSync(broken, '');
    child = start(`if (existsSync(${JSON.stringify(broken)})) process.exit(3);`);
    await until(() => lines.length >= 5);
    rmSync(broken);
    await child.ready;
    expect(lines.slice(0, 5).map((line) => line.match(/\((.+)\).* in (.+) s/)?.slice(1))).toEqual([
      ['exit code 3', '0.01'],
      ['exit code 3', '0.02'],
      ['exit code 3', '0.04'],
      ['exit code 3', '0.04'],
      ['exit code 3', '0.04'],
    ]);
  });

  test('a process killed while it serves is restarted at once each time, unlike one that never serves', async () => {
    const broken = join(folder.path, 'broken');
    child = start(`if (existsSync(${JSON.stringify(broken)})) process.exit(3);`, undefined, 0);
    await child.ready;
    const back = () => lines.filter((line) => line === 'worker is back').length;
    for (let kills = 1; kills <= 3; kills++) {
      process.kill(child.pid()!, 'SIGKILL');
      await until(() => back() === kills);
    }
    writeFileSync(broken, '');
    process.kill(child.pid()!, 'SIGKILL');
    await until(() => lines.filter((line) => line.includes('exit code')).length >= 2);
    rmSync(broken);
    await until(() => back() === 4);
    const pauses = lines.flatMap((line) => line.match(/ in (.+) s$/)?.[1] ?? []);
    expect(pauses.slice(0, 6)).toEqual([...['0.01', '0.01', '0.01'], ...['0.01', '0.02', '0.04']]);
  });

  test.each([
    ['whose configuration is wrong', 78],
    ['whose port another program has', 75],
  ])('a process %s is not restarted', async (_what, code) => {
    child = start(`process.exit(${code});`);
    await until(() => fatal.length > 0);
    expect(fatal).toEqual([`worker ${code}`]);
    await child.stop();
    expect(starts()).toHaveLength(1);
    expect(lines).toEqual([]);
  });

  test.each([
    ['a configuration fault', 78, 'exit code 78'],
    ['the loss of its port', 75, 'another program uses its port'],
  ])('a process that has served is restarted even after %s', async (_what, code, reason) => {
    const broken = join(folder.path, 'broken');
    child = start(`if (existsSync(${JSON.stringify(broken)})) process.exit(${code});`);
    await child.ready;
    writeFileSync(broken, '');
    process.kill(child.pid()!, 'SIGKILL');
    await until(() => lines.some((line) => line.includes(`(${reason})`)));
    rmSync(broken);
    await until(() => lines.includes('worker is back'));
    expect(fatal).toEqual([]);
  });

  test.each([78, 75])(
    'the replacement of a process that has served is restarted after code %i at its start',
    async (code) => {
      const broken = join(folder.path, 'broken');
      writeFileSync(broken, '');
      const behaviour = `if (existsSync(${JSON.stringify(broken)})) process.exit(${code});`;
      child = supervise(spec(folder.path, 'worker', behaviour), { ...options(), hasServed: true });
      await until(() => lines.length > 0);
      rmSync(broken);
      await child.ready;
      expect(lines.at(-1)).toBe('worker is back');
      expect(fatal).toEqual([]);
    },
  );

  test('a process that ignores the signal is killed after its stop time', async () => {
    child = start(`process.removeAllListeners('SIGTERM'); process.on('SIGTERM', () => undefined);`, {
      stopPatienceMs: 100,
    });
    await child.ready;
    const pid = child.pid()!;
    await child.stop();
    expect(isRunning(pid)).toBe(false);
    expect(lines).toEqual(['worker did not stop within 0.1 s, killing it']);
  });

  test('a stopped process is stopped once and not restarted', async () => {
    child = start();
    await child.ready;
    await Promise.all([child.stop(), child.stop()]);
    expect(readJournal(folder.path).map(({ event }) => event)).toEqual(['started', 'stopped']);
    expect(lines).toEqual([]);
  });

  test('a process sees by the end of its channel that the launcher was killed', async () => {
    const worker = spec(folder.path, 'worker');
    const supervisor = urlInDist('launcher/supervisor.js');
    const code = `const { supervise } = await import(${JSON.stringify(supervisor)});
      supervise(${JSON.stringify({ ...worker, env: {} })}, { say() {}, onFatal() {} });`;
    const launcher = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'ignore' });
    const [started] = await until(() => (starts().length > 0 ? starts() : undefined));
    launcher.kill('SIGKILL');
    await until(() => readJournal(folder.path).some(({ event }) => event === 'orphaned'));
    await until(() => !isRunning(started!.pid));
  });
});
