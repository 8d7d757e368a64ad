import { Journal, outcome } from '../../../rig/client.js';
import { addressIn, newAccount, subscribeTo, tightKey } from '../accounts.js';
import { type Attack, repeatedly, strike } from '../attack.js';

/** A stranger's address with which an attacker signed up, and one that is only subscribed. */
export const STRANGERS = { own: 'signed-up@stranger.example', subscribed: 'subscribed@stranger.example' };
const ATTACK = 'mails to strangers';
const BLOCK = 33;
const PAUSE_MS = 2_000;

/** Two ways to a stranger's mailbox: a low-balance alert armed again and again, and a subscription recreated with new keys. */
export const strangersMails: Attack = async (target) => {
  const low = await newAccount(target.url, addressIn(BLOCK, 0), STRANGERS.own);
  const remade = await newAccount(target.url, addressIn(BLOCK, 1));
  const journal = new Journal();
  const calls = async (key: string): Promise<void> =>
    target.count(`${ATTACK}: calls`, outcome(await journal.call(target.url, key)));
  const post = (method: string, path: string, body?: unknown): Promise<number> =>
    strike(target, ATTACK, low.address, [method, path], { token: low.token, body });
  const arm = () =>
    repeatedly(target, PAUSE_MS, async (round) => {
      // A dollar to begin with, ten more each time, and calls that cost next to nothing.
      await post('PUT', '/api/billing/low-balance-alert', { threshold_usd: `${round * 10 + 1}.000000` });
      await calls(low.key);
      await post('POST', '/api/billing/topup', { amount_usd: 10 });
    });
  const remake = () =>
    repeatedly(target, PAUSE_MS, async () => {
      const { key, keyId } = await tightKey(target.url, remade);
      await subscribeTo(target.url, remade, keyId, STRANGERS.subscribed, [20, 40, 60, 80, 100]);
      await calls(key);
      await strike(target, ATTACK, remade.address, ['DELETE', `/api/keys/${keyId}`], { token: remade.token });
    });
  return () => Promise.all([arm(), remake()]);
};
