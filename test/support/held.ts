import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Loaded into every process of the rig before its own code: on SIGUSR2 it sends the driver the amount of referenced
 * memory. Resident memory means little, since the collector keeps freed memory for later.
 */

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

process.on('SIGUSR2', () => {
  collect();
  // By now, everything that the first collection released is freed, including buffers outside of the heap.
  setTimeout(() => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    process.send?.({ type: 'held', bytes: heapUsed + external });
  }, 100);
});

// Node writes compiled code when a process ends in order, and most of these are killed. Without this, the next start of the same
// program would compile everything again, a quarter of its cost.
const { send } = process;
process.send = function (this: NodeJS.Process, ...message: unknown[]): boolean {
  if ((message[0] as { type?: unknown }).type === 'ready') flushCompileCache();
  return Reflect.apply(send!, this, message) as boolean;
} as NonNullable<typeof send>;
