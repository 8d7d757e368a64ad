import type { ServerResponse } from 'node:http';
import { CallerGoneError } from '../inference/limits/limits.js';
import type { Turns, Work, WorkEnd } from '../lib/turns.js';

/**
 * Does work for a request in the turns of `owner`. If the client disconnects first, the work is given up and `done` gets a
 * `CallerGoneError`. `done` may be called from here.
 */
export function inTurn<T>(
  turns: Turns,
  owner: string,
  response: ServerResponse,
  work: Work<T>,
  done: WorkEnd<T>,
): void {
  const left = (): void => {
    giveUp?.();
    done(new CallerGoneError(), undefined);
  };
  const giveUp = turns.begin(owner, work, (error, result) => {
    response.off('close', left);
    done(error, result);
  });
  if (giveUp) response.once('close', left);
}
