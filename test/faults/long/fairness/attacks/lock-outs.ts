import { addressIn } from '../accounts.js';
import { type Attack, repeatedly, strike } from '../attack.js';

/** Of one network with one account; all networks together may fail 100 times. */
const FAILURES = 10;
const PAUSE_MS = 500;
const BLOCK = 37;

/** Failed log-ins of each honest account in turn, each round from a new network. */
export const lockOuts: Attack = async (target) => () =>
  repeatedly(target, PAUSE_MS, async (round) => {
    const body = { email: target.victims[round % target.victims.length]!, password: 'Summer2026!!' };
    const address = addressIn(BLOCK, round);
    await Promise.all(
      Array.from({ length: FAILURES }, () =>
        strike(target, 'attempts to lock out', address, ['POST', '/api/auth/login'], { body }),
      ),
    );
  });
