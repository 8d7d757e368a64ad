import { setTimeout as pause } from 'node:timers/promises';
import { outcome } from '../../../rig/client.js';
import { addressIn, newAccount } from '../accounts.js';
import { ask, evenly, type Watch } from './watch.js';

const PER_SECOND = 0.5;
/** The plan lets twenty calls pass in a minute. */
const AGAIN_MS = 10;
const MOST_TRIES = 15;
const BLOCK = 21;
/** Gets its starter credit before the measurement: later sign-ups with a tagged form of this mail get none. */
export const PATRON = 'patron@example.com';
let made = 0;

/** An account without credit tops up and calls until a call succeeds. */
export const honestTopUps = (watch: Watch): Promise<number> =>
  evenly(watch, PER_SECOND, async () => {
    const n = made++;
    const poor = await newAccount(watch.url, addressIn(BLOCK, n), PATRON.replace('@', `+${n}@`));
    const refused = await watch.journal.call(watch.url, poor.key);
    if (refused.status !== 402) throw new Error(`a call without money ended with ${outcome(refused)}`);
    const began = performance.now();
    await ask(watch, poor, 'POST', '/api/billing/topup', { body: { amount_usd: 10 } });
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const entry = await watch.journal.call(watch.url, poor.key, { words: 1 });
      if (outcome(entry) === '200') {
        watch.note('top-up to usable balance', performance.now() - began);
        return;
      }
      if (entry.status !== 402) throw new Error(`a call after a top-up ended with ${outcome(entry)}`);
      await pause(AGAIN_MS);
    }
    throw new Error(`a top-up was not usable after ${MOST_TRIES} calls`);
  });
