/** What jest-worker tells a child process whose test files are done (`CHILD_MESSAGE_END`). */
const END = 2;

/** A stop that takes longer is reported on the console, since its worker may be killed soon. */
const SLOW_STOP_MS = 20_000;

const shared = new Map<string, Promise<unknown>>();
/** In the order of successful starts, so that a thing comes after what it needs. */
const stops: { key: string; stop: () => Promise<void> | void }[] = [];
let watching = false;

/**
 * Starts something once in this process and gives it to every test file that uses the same key. It is stopped when the
 * worker ends, in reverse order of the starts. A failed start isn't kept: the next file tries again.
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

/** Stops everything that this process started. A worker calls it by itself, a run without workers at its end. */
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

/** A rejection ends the worker with its stack on the console. Jest waits for the process, not for its response. */
function endOfWorker(message: unknown): Promise<void> | undefined {
  return Array.isArray(message) && message[0] === END ? stopShared() : undefined;
}

/** A killed Jest doesn't send END, so a worker also ends when its channel closes. */
function watchForTheEnd(): void {
  if (watching || !process.send) return;
  watching = true;
  process.on('message', endOfWorker).on('disconnect', stopShared);
}
