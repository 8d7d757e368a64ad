import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { until } from '../support/until.js';

/** Makes 100 MB of garbage that survived collections, and prints the heap's megabytes every 250 ms: seldom, since printing is work. */
const program = (collects: boolean): string => `
import { collectWhenIdle } from ${JSON.stringify(pathToFileURL(resolve('build/src/lib/collect-when-idle.js')))};
let kept = Array.from({ length: 1_000_000 }, (_, i) => ({ i, text: [i, i + 1, i + 2] }));
setTimeout(() => {
  kept = undefined;
  setInterval(() => console.log(process.memoryUsage().heapUsed / 1e6), 250);
  if (${collects}) collectWhenIdle(1_000);
}, 50);
`;

/** The heap's megabytes as a process prints them. */
function startProcess(collects: boolean): { printed: number[]; stop(): Promise<void> } {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program(collects)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const printed: number[] = [];
  child.stdout.on('data', (text) => printed.push(...String(text).trim().split('\n').map(Number)));
  return {
    printed,
    async stop() {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}

test('an idle process gives back what its busy time has left, which V8 alone would keep', async () => {
  const [collecting, other] = [startProcess(true), startProcess(false)];
  try {
    await until(() => (collecting.printed.at(-1) ?? Number.POSITIVE_INFINITY) < 20, {
      what: 'the garbage to be collected',
    });
    await until(() => other.printed.length >= collecting.printed.length, { what: 'as many samples' });
    expect(Math.max(...collecting.printed)).toBeGreaterThan(50);
    expect(Math.min(...other.printed)).toBeGreaterThan(50);
  } finally {
    await Promise.all([collecting.stop(), other.stop()]);
  }
}, 60_000);
