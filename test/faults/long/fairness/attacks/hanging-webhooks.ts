import { startReceiver } from '../../../../alerts/delivery/receiver.js';
import { Journal, outcome } from '../../../rig/client.js';
import { addressIn, newAccount, subscribeTo, tightKey } from '../accounts.js';
import type { Attack } from '../attack.js';
import type { Account } from '../messages.js';

const ACCOUNTS = 4;
const RECEIVERS = 4;
/** With ten subscriptions of five percentages each: 200 alerts of an account. */
const KEYS = 4;
const SUBSCRIPTIONS = 10;
const THRESHOLDS = [20, 40, 60, 80, 100];
const BLOCK = 31;

/** Four accounts with 200 alerts each, to receivers that accept a delivery and never respond. */
export const hangingWebhooks: Attack = async (target) => {
  const receivers = await Promise.all(
    Array.from({ length: RECEIVERS }, () =>
      startReceiver({
        onRequest() {
          target.count('alerts to receivers that hang', 'attempt');
          return false;
        },
      }),
    ),
  );
  const keysOf = async (account: Account): Promise<string[]> => {
    const keys: string[] = [];
    for (let n = 0; n < KEYS; n++) {
      const { key, keyId } = await tightKey(target.url, account);
      for (let m = 0; m < SUBSCRIPTIONS; m++) {
        await subscribeTo(
          target.url,
          account,
          keyId,
          `${receivers[m % RECEIVERS]!.url}/hang/${m}`,
          THRESHOLDS,
        );
      }
      keys.push(key);
    }
    return keys;
  };
  const keys: string[] = [];
  for (let n = 0; n < ACCOUNTS; n++) {
    keys.push(...(await keysOf(await newAccount(target.url, addressIn(BLOCK, n)))));
  }
  const journal = new Journal();
  return async () => {
    for (const key of keys) {
      target.count('calls that fire 50 alerts', outcome(await journal.call(target.url, key)));
    }
  };
};
