/** An attempt that takes this long counts as slow. */
export const SLOW_MS = 2_000;
/** An account's share is full again after this time without a slow attempt. */
const FORGOTTEN_MS = 10 * 60_000;

/**
 * How many deliveries an account may have at once in this process. Each slow attempt halves its share, down to one,
 * and each quick one doubles it, so that receivers that hang take few slots from others.
 */
export interface AccountShares {
  /** Reports the end of an attempt. */
  attempted(accountId: string, tookMs: number): void;
  /** Shares of the accounts that have less than a full one. */
  reduced(): ReadonlyMap<string, number>;
}

interface Reduced {
  share: number;
  slowAt: number;
}

/**
 * @param whole share of an account whose receivers respond in time
 * @param now milliseconds of a monotonic clock
 */
export function createAccountShares(whole: number, now: () => number): AccountShares {
  const accounts = new Map<string, Reduced>();
  return {
    attempted(accountId, tookMs) {
      const { share, slowAt } = accounts.get(accountId) ?? { share: whole, slowAt: 0 };
      if (tookMs >= SLOW_MS) {
        accounts.set(accountId, { share: Math.max(1, Math.floor(share / 2)), slowAt: now() });
      } else if (share * 2 >= whole) accounts.delete(accountId);
      else accounts.set(accountId, { share: share * 2, slowAt });
    },
    reduced() {
      for (const [id, { slowAt }] of accounts) if (now() - slowAt > FORGOTTEN_MS) accounts.delete(id);
      return new Map([...accounts].map(([id, { share }]) => [id, share]));
    },
  };
}
