import { addressIn } from '../accounts.js';
import { type Attack, repeatedly, strike } from '../attack.js';

const AT_ONCE = 300;
const PAUSE_MS = 5_000;
const BLOCK = 35;

/** 300 log-ins at once from one address; then from the next. */
export const loginFlood: Attack = async (target) => () =>
  repeatedly(target, PAUSE_MS, (round) =>
    Promise.all(
      Array.from({ length: AT_ONCE }, (_, n) =>
        strike(target, 'log-ins at once', addressIn(BLOCK, round), ['POST', '/api/auth/login'], {
          body: { email: `flood-${round}-${n}@example.com`, password: 'Summer2026!!' },
        }),
      ),
    ),
  );
