import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Cores } from './machine.js';

export interface Child {
  pid: number;
  process: ChildProcess;
  /** Sends SIGTERM to this process, and SIGKILL if it takes longer than an edge may. */
  stop(): Promise<void>;
}

export interface StartOptions {
  cores?: Cores;
  env?: NodeJS.ProcessEnv;
  cwd?: string;
}

/** An edge ends by itself after 35 s. Events not written by then wait in its spool, which the bench removes. */
const STOP_MS = 40_000;
const LISTEN_MS = 60_000;

/** Starts a program, pinned to the target's core when `cores` is given. */
export function start(command: string, args: string[], options: StartOptions = {}): Child {
  const { cores, cwd } = options;
  const argv = cores ? ['taskset', '-c', cores.target, command, ...args] : [command, ...args];
  const child = spawn(argv[0]!, argv.slice(1), {
    cwd,
    env: options.env ?? process.env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  // `taskset` becomes the program itself, so this is the program's pid.
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${command} could not be started`);
  return {
    pid,
    process: child,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const limit = setTimeout(() => {
        process.stderr.write(`bench: ${argv.join(' ')} did not stop and was killed\n`);
        child.kill('SIGKILL');
      }, STOP_MS);
      await ended;
      clearTimeout(limit);
    },
  };
}

/** Starts one of the programs of this folder. */
export function startOwn(name: string, args: string[], options: StartOptions = {}): Child {
  return start(process.execPath, [fileURLToPath(new URL(`./${name}.js`, import.meta.url)), ...args], options);
}

/** Waits until something answers HTTP at an address. */
export async function answering(url: string, child: Child): Promise<void> {
  for (const end = Date.now() + LISTEN_MS; Date.now() < end; ) {
    if (child.process.exitCode !== null) throw new Error(`the process for ${url} ended at its start`);
    const response = await fetch(url).catch(() => undefined);
    await response?.arrayBuffer();
    if (response && response.status < 500) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`nothing answers at ${url}`);
}
