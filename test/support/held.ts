import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Loaded into every process of the rig before its own code: on SIGUSR2 it tells the driver how much memory something
 * still refers to. What is resident says little, since the collector leaves what it has not needed yet.
 */

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

process.on('SIGUSR2', () => {
  collect();
  // What the first collection let go of is freed by then, buffers outside of the heap included.
  setTimeout(() => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    process.send?.({ type: 'held', bytes: heapUsed + external });
  }, 100);
});

// Node writes what it has compiled when a process ends in order, and most of these are killed: the next start of the same
// program would compile everything again, a quarter of what a start costs.
const { send } = process;
process.send = function (this: NodeJS.Process, ...message: unknown[]): boolean {
  if ((message[0] as { type?: unknown }).type === 'ready') flushCompileCache();
  return Reflect.apply(send!, this, message) as boolean;
} as NonNullable<typeof send>;
