import { unwatchFile, watchFile } from 'node:fs';
import type { Logger } from '../lib/logger.js';
import { RoutingFileError } from './config-file.js';
import type { Routing } from './routing.js';
import type { RoutingSource } from './routing-source.js';

const POLL_MS = 1_000;
/** An editor may still be writing, or be between removing the file and renaming another to it. */
const SETTLE_MS = 300;

/**
 * Reads the routing file again on SIGHUP and when it changes, and gives it to `onRouting`. A faulty one changes nothing.
 * The file is looked at by its path each second, so that files which are renamed and links which are swapped are seen. What has
 * changed since the file was read for the start counts, too.
 * @returns Stops it.
 */
export function followFile(
  source: RoutingSource,
  log: Logger,
  onRouting: (routing: Routing) => void | Promise<void>,
): () => void {
  let reading = Promise.resolve();
  let settling: NodeJS.Timeout | undefined;
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
    clearTimeout(settling);
    reading = reading.then(readAgain);
  };
  const changed = (): void => {
    clearTimeout(settling);
    settling = setTimeout(read, SETTLE_MS).unref();
  };
  process.on('SIGHUP', read);
  watchFile(source.path, { interval: POLL_MS, persistent: false }, changed);
  if (source.isOutdated()) changed();
  return () => {
    process.off('SIGHUP', read);
    unwatchFile(source.path, changed);
    clearTimeout(settling);
  };
}
