import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { inDist } from './dist.js';
import { INHERITED_ENV } from './inherited-env.js';
import { TEST_SECRETS } from './secrets.js';

/** Runs one of the commands of `src/cli` like a person. @returns Its exit code and output. */
export async function runCommand(
  name: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, [inDist(`cli/${name}.js`), ...args], {
    env: { ...INHERITED_ENV, ...TEST_SECRETS, ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += bytes));
  const [code] = (await once(child, 'close')) as [number];
  return { code, output };
}
