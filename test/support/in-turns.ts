import { Turns, type Work } from '../../src/lib/turns.js';

/** The result of work that is done in many short turns of the event loop. */
export const inTurns = <T>(work: Work<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    new Turns(0.1).take('one', work, (error, result) => {
      if (error) reject(error);
      else resolve(result as T);
    });
  });
