import { outcome } from '../../../rig/client.js';
import { subscribeTo, tightKey } from '../accounts.js';
import type { Account, Figure } from '../messages.js';
import { ask, evenly, inTime, type Watch } from './watch.js';

const PER_SECOND = { webhook: 1, mail: 0.5 };
/** An alert that hasn't arrived by then is lost. */
const PATIENCE_MS = 60_000;

/** Who waits for something at a path or an address. */
export interface Arrivals {
  came(where: string, at: number): void;
  next(where: string): Promise<number>;
}

export function createArrivals(): Arrivals {
  const waiting = new Map<string, (at: number) => void>();
  return {
    came: (where, at) => waiting.get(where)?.(at),
    next: (where) =>
      new Promise((resolve) => {
        waiting.set(where, (at) => {
          waiting.delete(where);
          resolve(at);
        });
      }),
  };
}

/** Fires alerts, each with a new key, because a percentage fires once. Returns how many arrived. */
export async function honestAlerts(watch: Watch, arrivals: Arrivals, receiver: string): Promise<number> {
  let came = 0;
  const alert = async (account: Account, figure: Figure, destination: string, where: string) => {
    const { key, keyId } = await tightKey(watch.url, account);
    await subscribeTo(watch.url, account, keyId, destination, [50]);
    const arrival = arrivals.next(where);
    const entry = await watch.journal.call(watch.url, key, { words: 5 });
    if (outcome(entry) !== '200') throw new Error(`the call for an alert ended with ${outcome(entry)}`);
    const at = await inTime(arrival, PATIENCE_MS, `the ${figure} of call ${entry.id}`);
    watch.note(figure, Math.max(0, at - entry.startedAt - entry.tookMs));
    came++;
    await ask(watch, account, 'DELETE', `/api/keys/${keyId}`);
  };
  await Promise.all([
    evenly(watch, PER_SECOND.webhook, (account, i) => {
      const path = `/ok/${account.accountId}-${i}`;
      return alert(account, 'alert by webhook', receiver + path, path);
    }),
    // To the account's own address, one at a time: fifty a day may go there.
    evenly(watch, PER_SECOND.mail, (account) =>
      alert(account, 'alert by mail', account.email, account.email),
    ),
  ]);
  return came;
}
