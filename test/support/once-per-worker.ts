/** What jest-worker tells a child process whose test files are done (`CHILD_MESSAGE_END`). */
const END = 2;

/** A stop that takes longer is named on the console, since its worker may be killed soon. */
const SLOW_STOP_MS = 20_000;

const shared = new Map<string, Promise<unknown>>();
/** In the order in which the starts succeeded: what something needs stands before it. */
const stops: { key: string; stop: () => Promise<void> | void }[] = [];
let watching = false;

/**
 * Starts something once in this process and gives it to every test file that asks by the same key. It is stopped when the
 * worker ends, what was started last first. A start that fails isn't kept: the next file tries again.
 */
export function oncePerWorker<T>(
  key: string,
  start: () => Promise<T>,
  stop: (started: T) => Promise<void> | void,
): Promise<T> {
  const known = shared.get(key) as Promise<T> | undefined;
  if (known) return known;
  watchForTheEnd();
  const starting = start().then((started) => {
    stops.push({ key, stop: () => stop(started) });
    return started;
  });
  shared.set(key, starting);
  starting.catch(() => shared.delete(key));
  return starting;
}

/** Stops what this process has started. A run without workers calls it at its end, a worker by itself. */
export async function stopShared(): Promise<void> {
  process.off('message', endOfWorker).off('disconnect', stopShared);
  watching = false;
  await Promise.allSettled(shared.values());
  shared.clear();
  const errors: unknown[] = [];
  for (const { key, stop } of stops.splice(0).reverse()) {
    const slow = setTimeout(
      () => process.stderr.write(`Still stopping what test files shared: ${key}\n`),
      SLOW_STOP_MS,
    );
    try {
      await stop();
    } catch (error) {
      errors.push(error);
    }
    clearTimeout(slow);
  }
  if (errors.length > 0) throw new AggregateError(errors, 'What test files shared could not be stopped');
}

/** A rejection ends the worker, with its stack on the console: jest waits for the process, not for what it answers. */
function endOfWorker(message: unknown): Promise<void> | undefined {
  return Array.isArray(message) && message[0] === END ? stopShared() : undefined;
}

/** A jest that is killed doesn't say END: without its channel a worker must not stay behind. */
function watchForTheEnd(): void {
  if (watching || !process.send) return;
  watching = true;
  process.on('message', endOfWorker).on('disconnect', stopShared);
}
