import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import type { Effort } from './messages.js';

/** A part of the load in a separate process, so that none waits for another's event loop. It replies to each order. */
export interface Part {
  order<Answer>(name: string, given?: unknown): Promise<Answer>;
  end(): Promise<void>;
}

interface Ask {
  name: string;
  given: unknown;
}

/** Starts a script of this folder. */
export function startPart(script: 'honest' | 'attackers'): Part {
  const path = fileURLToPath(new URL(`${script}.js`, import.meta.url));
  const child: ChildProcess = fork(path, [], { execArgv: [] });
  const ended = once(child, 'exit').then(() => {
    throw new Error(`the process of ${script} has ended`);
  });
  ended.catch(() => undefined);
  return {
    async order<Answer>(name: string, given?: unknown): Promise<Answer> {
      const answered = once(child, 'message') as Promise<[{ answer?: Answer; error?: string }]>;
      child.send({ name, given } satisfies Ask);
      const [{ answer, error }] = await Promise.race([answered, ended]);
      if (error !== undefined) throw new Error(`${script}, ${name}: ${error}`);
      return answer as Answer;
    },
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await ended.catch(() => undefined);
    },
  };
}

/** Runs in that process: executes orders one at a time, and ends with the driver. */
export function serveOrders(orders: Record<string, (given: never) => Promise<unknown>>): void {
  process.on('message', async ({ name, given }: Ask) => {
    try {
      process.send?.({ answer: (await orders[name]!(given as never)) ?? null });
    } catch (error) {
      process.send?.({ error: (error as Error).stack ?? String(error) });
    }
  });
  process.on('disconnect', () => process.exit(0));
}

/** Measures the resources that this process uses from now on. */
export function startEffort(): () => Effort {
  const began = performance.now();
  const used = process.cpuUsage();
  const loop = performance.eventLoopUtilization();
  return () => {
    const { user, system } = process.cpuUsage(used);
    return {
      cores: (user + system) / 1_000 / (performance.now() - began),
      loop: performance.eventLoopUtilization(loop).utilization,
    };
  };
}
