import type { Logger } from '../lib/logger.js';
import { RoutingFileError } from './config-file.js';
import type { Routing } from './routing.js';
import type { RoutingSource } from './routing-source.js';

const POLL_MS = 800;

/**
 * Reads the routing file again on SIGHUP and when it changes, and gives it to `onRouting`. A faulty one changes nothing.
 * The file is looked at by its path, so that files which are renamed and links which are swapped are seen, and what has changed
 * since it was read for the start.
 * @returns Stops it.
 */
export function followFile(
  source: RoutingSource,
  log: Logger,
  onRouting: (routing: Routing) => void | Promise<void>,
): () => void {
  let reading = Promise.resolve();
  let seen: string | undefined;
  const readAgain = async (): Promise<void> => {
    try {
      const next = await source.load();
      log.info({ deployments: next.deployments.length }, 'the routing file has been read again');
      await onRouting(next);
    } catch (error) {
      if (error instanceof RoutingFileError)
        log.error({ faults: error.lines }, 'the routing file is faulty, the former routing stays');
      else log.error({ error }, 'the routing could not be read again in full');
    }
  };
  const read = (): void => {
    reading = reading.then(readAgain);
  };
  const look = async (): Promise<void> => {
    const version = await source.version();
    // One that is still being written has changed again.
    if (version !== source.readVersion && version === seen) read();
    seen = version;
  };
  process.on('SIGHUP', read);
  const timer = setInterval(() => void look(), POLL_MS);
  timer.unref();
  return () => {
    process.off('SIGHUP', read);
    clearInterval(timer);
  };
}
