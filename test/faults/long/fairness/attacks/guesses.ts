import { addressIn } from '../accounts.js';
import { type Attack, repeatedly, strike } from '../attack.js';

const MAILS = 400;
const AT_ONCE = 8;
const PAUSE_MS = 5_000;
const BLOCK = 34;

/** One password tried at 400 mails from one address; then from the next. */
export const guesses: Attack = async (target) => () =>
  repeatedly(target, PAUSE_MS, async (round) => {
    let next = 0;
    const guesser = async (): Promise<void> => {
      while (next < MAILS && !target.over()) {
        const body = { email: `guessed-${next++}@example.com`, password: 'Summer2026!!' };
        await strike(target, 'log-in guesses', addressIn(BLOCK, round), ['POST', '/api/auth/login'], {
          body,
        });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, guesser));
  });
