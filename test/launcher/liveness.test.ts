import { spawn } from 'node:child_process';
import { type SupervisedChild, supervise } from '../../src/launcher/supervisor.js';
import { isRunning } from '../../src/lib/process-stat.js';
import { urlInDist } from '../support/dist.js';
import { until } from '../support/until.js';
import { type Limits, readJournal, spec, temporaryFolder } from './support.js';

/** Time of silence after which a process counts as hung here. */
const HUNG_AFTER_MS = 600;
/** For live processes: far longer than a busy machine delays a reply. */
const MUCH_LATER_MS = 1_500;

describe('the watch over a supervised process', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let children: SupervisedChild[];
  let lines: string[];
  beforeEach(() => {
    folder = temporaryFolder();
    children = [];
    lines = [];
  });
  afterEach(async () => {
    await Promise.all(children.map((child) => child.stop()));
    folder.remove();
  });

  const start = (name: string, behaviour: string, limits: Limits): SupervisedChild => {
    const child = supervise(spec(folder.path, name, behaviour, limits), {
      say: (line) => lines.push(line),
      onFatal: (_name, code) => lines.push(`fatal ${code}`),
      backOff: { firstMs: 10, maxMs: 40, resetAfterMs: 60_000 },
    });
    children.push(child);
    return child;
  };
  const starts = () => readJournal(folder.path).filter(({ event }) => event === 'started');
  const freeze = (child: SupervisedChild): void => void process.kill(child.pid()!, 'SIGSTOP');
  const passed = (ms: number) => {
    const began = performance.now();
    return until(() => performance.now() - began > ms, { what: `${ms} ms to pass` });
  };

  test.each([
    ['is frozen', 'SIGSTOP'],
    ['is in an endless loop', 'SIGUSR2'],
    ['is in an endless row of promises', 'SIGHUP'],
    ['waits for what never comes', 'SIGWINCH'],
  ] as const)('kills one that %s, which comes back and serves', async (_how, signal) => {
    const behaviour = `process.on('SIGUSR2', () => { for (;;); });
      process.on('SIGHUP', async () => { for (;;) await undefined; });
      process.on('SIGWINCH', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));`;
    const child = start('worker', behaviour, { hungAfterMs: HUNG_AFTER_MS });
    await child.ready;
    process.kill(child.pid()!, signal);
    await until(() => lines.includes('worker is back'));
    expect(lines).toEqual([
      'worker has not answered for 0.6 s, killing it',
      'worker exited (SIGKILL); restarting it in 0.01 s',
      'worker is back',
    ]);
    const [first, second] = starts();
    expect([isRunning(first!.pid), child.pid(), child.serves()]).toEqual([false, second!.pid, true]);
  });

  test('a process that is still starting is not killed, however long that takes', async () => {
    const never = 'await new Promise((done) => setTimeout(done, 1e6));';
    const starting = start('starting', never, { hungAfterMs: HUNG_AFTER_MS });
    await until(() => starts().length === 1);
    freeze(starting);
    const hung = start('hung', '', { hungAfterMs: HUNG_AFTER_MS });
    await hung.ready;
    freeze(hung);
    await until(() => lines.includes('hung is back'));
    expect(starts().filter(({ name }) => name === 'starting')).toHaveLength(1);
    expect(isRunning(starting.pid()!)).toBe(true);
    process.kill(starting.pid()!, 'SIGCONT');
  });

  test('no process is killed if the watch is off', async () => {
    const left = start('left', '', { hungAfterMs: 0 });
    const killed = start('killed', '', { hungAfterMs: HUNG_AFTER_MS });
    await Promise.all([left.ready, killed.ready]);
    freeze(left);
    freeze(killed);
    await until(() => lines.includes('killed is back'));
    expect(lines.filter((line) => line.startsWith('left'))).toEqual([]);
    process.kill(left.pid()!, 'SIGCONT');
    await left.stop();
    expect(readJournal(folder.path).filter(({ name }) => name === 'left')).toMatchObject([
      { event: 'started' },
      { event: 'stopped' },
    ]);
  });

  test('a process that is being stopped gets its whole stop time', async () => {
    const child = start('worker', '', { hungAfterMs: HUNG_AFTER_MS, stopPatienceMs: 3 * HUNG_AFTER_MS });
    await child.ready;
    const pid = child.pid()!;
    freeze(child);
    await child.stop();
    expect(isRunning(pid)).toBe(false);
    expect(lines).toEqual(['worker did not stop within 1.8 s, killing it']);
    expect(starts()).toHaveLength(1);
  });

  test('a busy process that replies between pieces of work is not killed', async () => {
    const busy = `process.on('SIGUSR2', () => {
        const piece = (left) => {
          for (const end = performance.now() + ${MUCH_LATER_MS / 4}; performance.now() < end; );
          if (left === 0) return journal('worker finished');
          setImmediate(() => setImmediate(piece, left - 1));
        };
        piece(6);
      });`;
    const child = start('worker', busy, { hungAfterMs: MUCH_LATER_MS });
    await child.ready;
    process.kill(child.pid()!, 'SIGUSR2');
    await until(() => readJournal(folder.path).some(({ event }) => event === 'finished'));
    expect(lines).toEqual([]);
    expect(starts()).toHaveLength(1);
  });

  test('any message counts as a sign of life', async () => {
    const talker = `process.on('newListener', (name) => name === 'message' && setImmediate(() => process.removeAllListeners(name)));
      setInterval(() => tellParent('a word'), ${MUCH_LATER_MS / 20});`;
    const child = start('worker', talker, { hungAfterMs: MUCH_LATER_MS });
    await child.ready;
    await until(() => lines.length > 30);
    expect(new Set(lines)).toEqual(new Set(['a word']));
    expect(starts()).toHaveLength(1);
  });

  test('a process that closed its channel is killed without an error', async () => {
    const mute = `process.on('SIGUSR2', () => {
        process.removeAllListeners('disconnect');
        process.disconnect();
      });`;
    const child = start('worker', mute, { hungAfterMs: HUNG_AFTER_MS });
    await child.ready;
    process.kill(child.pid()!, 'SIGUSR2');
    await until(() => lines.includes('worker is back'));
    expect(lines[0]).toBe('worker has not answered for 0.6 s, killing it');
  });

  test('a freeze of the launcher itself kills no process', async () => {
    const asked = `process.on('message', () => journal('worker asked'));`;
    const worker = spec(folder.path, 'worker', asked, { hungAfterMs: MUCH_LATER_MS });
    const code = `const { supervise } = await import(${JSON.stringify(urlInDist('launcher/supervisor.js'))});
      supervise(${JSON.stringify({ ...worker, env: {} })}, { say: console.log, onFatal() {} });`;
    const launcher = spawn(process.execPath, ['--input-type=module', '-e', code]);
    let output = '';
    launcher.stdout.on('data', (chunk) => (output += chunk));
    const questions = () => readJournal(folder.path).filter(({ event }) => event === 'asked').length;
    try {
      await until(() => questions() > 0);
      launcher.kill('SIGSTOP');
      await passed(1.2 * MUCH_LATER_MS);
      const before = questions();
      launcher.kill('SIGCONT');
      await until(() => questions() > before + 14, { what: 'the launcher to have gone on asking' });
      expect(output).toBe('');
      expect(starts()).toHaveLength(1);
    } finally {
      launcher.kill('SIGKILL');
      await until(() => !starts().some(({ pid }) => isRunning(pid)));
    }
  });
});
