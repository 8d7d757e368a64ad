import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inRounds, restartInTurn } from '../../src/launcher/restart-in-turn.js';
import { type SupervisedChild, supervise } from '../../src/launcher/supervisor.js';
import { until } from '../support/until.js';
import { readJournal, spec, temporaryFolder } from './support.js';

/** Decision 0166: a restart of all edges stops one at a time. */
describe('processes that are restarted in turn', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let running: SupervisedChild[];
  let lines: string[];
  beforeEach(async () => {
    folder = temporaryFolder();
    lines = [];
    running = [start(0), start(1)];
    await Promise.all(running.map(({ ready }) => ready));
  });
  afterEach(async () => {
    await Promise.all(running.map((one) => one.stop()));
    folder.remove();
  });

  const broken = () => join(folder.path, 'broken');
  /** While the file `broken` exists, a starting process does what the file says. */
  const behaviour = () => `while (existsSync(${JSON.stringify(broken())})) {
    const { readFileSync } = await import('node:fs');
    if (readFileSync(${JSON.stringify(broken())}, 'utf8') === 'ends') process.exit(78);
    await new Promise((done) => setTimeout(done, 10));
  }`;
  const start = (nth: number): SupervisedChild =>
    supervise(spec(folder.path, `worker${nth + 1}`, behaviour()), {
      say: (line) => lines.push(line),
      onFatal: (name, code) => lines.push(`${name}: fatal ${code}`),
      hasServed: true,
      backOff: { firstMs: 10, maxMs: 40, resetAfterMs: 60_000 },
    });
  const restart = (patienceMs?: number) =>
    restartInTurn(running, { start, isStopping: () => false, ...(patienceMs && { patienceMs }) });
  const pids = () => running.map((one) => one.pid());

  test('each process ends only after the one before serves again', async () => {
    expect(await restart()).toBeUndefined();
    const events = readJournal(folder.path).map(({ name, event }) => `${name} ${event}`);
    expect(events.slice(2)).toEqual([
      'worker1 stopped',
      'worker1 started',
      'worker2 stopped',
      'worker2 started',
    ]);
    expect(lines).toEqual([]);
  });

  test('all requests during a restart share one further restart', async () => {
    let rounds = 0;
    const ask = inRounds(async () => {
      rounds++;
      await restart();
    });
    const first = ask();
    await until(() => rounds === 1);
    await Promise.all([first, ask(), ask()]);
    expect(rounds).toBe(2);
    expect(readJournal(folder.path).filter(({ event }) => event === 'started')).toHaveLength(2 + 2 * 2);
  });

  test.each([
    ['is never ready', 'waits'],
    ['can not start', 'ends'],
  ])('later processes stay if one before them %s, and can be restarted again', async (_what, how) => {
    const [, second] = pids();
    writeFileSync(broken(), how);
    const late = await restart(200);
    expect(late).toBe(running[0]);
    expect(late!.name).toBe('worker1');
    expect(pids()[1]).toBe(second);
    rmSync(broken());
    // The late process needs no further request.
    await until(() => running[0]!.serves());
    const before = pids();
    expect(await restart()).toBeUndefined();
    expect(pids().every((pid) => pid !== undefined && !before.includes(pid))).toBe(true);
    expect(lines.filter((line) => line.includes('fatal'))).toEqual([]);
  });
});
