import type { ChildProcess } from 'node:child_process';
import { PING } from '../lib/lifecycle.js';

/** Questions in a row without a sign of life after which a process is taken to be hung. */
const MOST_UNANSWERED = 12;

/**
 * Asks a process over its channel whether its event loop still turns, and calls `onHung` once it has been silent for
 * `hungAfterMs`; 0: never. Any message from it is a sign of life. Questions are counted rather than time: when this process was
 * frozen itself, or the machine slept, that is one unanswered question, however long it took.
 * @returns a way to end the watch.
 */
export function watchLiveness(child: ChildProcess, hungAfterMs: number, onHung: () => void): () => void {
  if (hungAfterMs === 0) return () => undefined;
  let unanswered = 0;
  child.on('message', () => {
    unanswered = 0;
  });
  const timer = setInterval(() => {
    if (unanswered === MOST_UNANSWERED) {
      clearInterval(timer);
      onHung();
      return;
    }
    unanswered++;
    // Without a callback a channel that has just closed would be an error of the child, which node:cluster throws.
    child.send(PING, undefined, undefined, () => undefined);
  }, hungAfterMs / MOST_UNANSWERED).unref();
  return () => clearInterval(timer);
}
