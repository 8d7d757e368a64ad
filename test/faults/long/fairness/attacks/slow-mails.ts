import { Journal, outcome } from '../../../rig/client.js';
import { addressIn, newAccount, subscribeTo, tightKey } from '../accounts.js';
import type { Attack } from '../attack.js';
import { SLOW_DOMAIN } from '../mail-sink.js';

/** With ten subscriptions of five percentages each: 500 mails. */
const KEYS = 10;
const SUBSCRIPTIONS = 10;
const THRESHOLDS = [20, 40, 60, 80, 100];
const BLOCK = 32;

/** 500 mails of one account, half of them to itself, which the mail server accepts slowly. */
export const slowMails: Attack = async (target) => {
  const owner = await newAccount(target.url, addressIn(BLOCK, 0), `hog@${SLOW_DOMAIN}`);
  const keys: string[] = [];
  for (let n = 0; n < KEYS; n++) {
    const { key, keyId } = await tightKey(target.url, owner);
    for (let m = 0; m < SUBSCRIPTIONS; m++) {
      const address = m % 2 === 0 ? owner.email : `stranger-${n}-${m}@${SLOW_DOMAIN}`;
      await subscribeTo(target.url, owner, keyId, address, THRESHOLDS);
    }
    keys.push(key);
  }
  const journal = new Journal();
  return async () => {
    for (const key of keys) {
      target.count('calls that fire 50 slow mails', outcome(await journal.call(target.url, key)));
    }
  };
};
