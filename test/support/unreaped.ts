import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { until } from './until.js';

/** A process whose parent never reaps it, like PID 1 of a container without an init. */
export interface Unreaped {
  readonly pid: number;
  /** Its output on stdout and stderr. */
  output(): string;
  /** Sends SIGKILL. Resolves once the process is a zombie, which it stays until `release`. */
  kill(): Promise<void>;
  /** Ends the parent, so that the system reaps the process. */
  release(): Promise<void>;
}

export async function startUnreaped(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Unreaped> {
  // The shell becomes a program that doesn't know its children.
  const parent = spawn('sh', ['-c', '"$@" & echo $!; exec sleep 600', 'sh', command, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env,
  });
  let output = '';
  for (const stream of [parent.stdout, parent.stderr]) stream.on('data', (chunk) => (output += chunk));
  const pid = Number(await until(() => /^(\d+)\n/.exec(output)?.[1], { intervalMs: 2 }));
  // The shell may reap a child that ends earlier.
  await until(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8') === 'sleep\n', { intervalMs: 2 });
  const isZombie = () => /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return {
    pid,
    output: () => output.slice(output.indexOf('\n') + 1),
    async kill() {
      process.kill(pid, 'SIGKILL');
      await until(isZombie, { intervalMs: 2, what: 'the killed process to be a zombie' });
    },
    async release() {
      const exited = once(parent, 'exit');
      parent.kill('SIGKILL');
      await exited;
    },
  };
}
