import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LogOutput } from '../../src/lib/log-output.js';
import { until } from '../support/until.js';

const LOGGER = pathToFileURL(resolve('build/src/lib/logger.js')).href;
const line = (i: number): string => `${i} ${'x'.repeat(1_000)}\n`;
const LINES = Array.from({ length: 300 }, (_, i) => line(i));

describe('the output of a log', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-log-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test('has every line once and in order, including those at the end of the process', async () => {
    const path = join(folder, 'log');
    const fd = openSync(path, 'w');
    const output = new LogOutput(fd);
    for (const one of LINES.slice(0, 200)) output.write(one);
    await until(() => readFileSync(path, 'utf8') === LINES.slice(0, 200).join(''), {
      what: 'the first lines',
    });
    // The first of these is being written when the rest is flushed.
    for (const one of LINES.slice(200)) output.write(one);
    output.flushSync();
    await until(() => readFileSync(path, 'utf8').length === LINES.join('').length, { what: 'all lines' });
    closeSync(fd);
    expect(readFileSync(path, 'utf8').split('\n').toSorted()).toEqual(LINES.join('').split('\n').toSorted());
  });

  test('waits for a slower reader, and buffers no more than a mebibyte', async () => {
    const path = join(folder, 'fifo');
    execFileSync('mkfifo', [path]);
    const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    const output = new LogOutput(fd);
    const many = Array.from({ length: 3_000 }, (_, i) => line(i));
    for (const one of many) output.write(one);
    let text = '';
    const piece = Buffer.alloc(64 * 1024);
    const read = (): boolean => {
      try {
        text += piece.toString('latin1', 0, readSync(fd, piece));
      } catch {
        // Empty for now.
      }
      return text.length > 1_000_000 && text.endsWith('\n');
    };
    await until(read, { what: 'the lines that were kept' });
    closeSync(fd);
    const got = text.split('\n').slice(0, -1);
    expect(got.length).toBeLessThan(1_100);
    expect(got).toEqual(many.slice(0, got.length).map((one) => one.slice(0, -1)));
  });

  test("neither ends nor blocks the process if it can't be written, as on a full volume", () => {
    const script = `
      const { createLogger } = await import('${LOGGER}');
      const log = createLogger('test', 'info');
      for (let i = 0; i < 3; i++) {
        log.info('a line');
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      process.stderr.write('still here');
      log.info('the last line');
      process.exit(7);`;
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
      timeout: 20_000,
    });
    closeSync(full);
    expect([status, stderr]).toEqual([7, 'still here']);
  });
});
