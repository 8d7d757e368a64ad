import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Result } from './goal.js';

/** Test files whose floods, fuzz and races have a full size, by their use of `test/support/size.ts`. */
function sizedFiles(): string[] {
  return readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .filter((name) => readFileSync(join('test', name), 'utf8').includes('support/size.js'))
    .map((name) => join('build', 'test', name.replace(/\.ts$/, '.js')));
}

/** Runs at full size what `npm test` runs at a smaller one. The scale has no effect. */
export async function suiteAtFullSize(): Promise<Result> {
  const files = sizedFiles();
  const child = spawn(
    process.execPath,
    [
      '--no-warnings',
      'node_modules/jest/bin/jest.js',
      '--ci',
      '--maxWorkers=2',
      '--runTestsByPath',
      ...files,
    ],
    { env: { ...process.env, TEST_SIZE: 'long' }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += bytes));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) process.stderr.write(output);
  return {
    goal: `SUITE ${files.length} files of npm test at their full sizes`,
    figure: 'no failure',
    reached: /^Tests: +(.*)$/m.exec(output)?.[1] ?? `exit code ${code}`,
    ok: code === 0,
  };
}
