/** An attempt that took so long counts as slow. */
export const SLOW_MS = 2_000;
/** After so long without a slow attempt an account is as any other. */
const FORGOTTEN_MS = 10 * 60_000;

/**
 * How many deliveries an account may have at once. Each slow attempt halves its share, down to one, and each quick one
 * doubles it again, so that receivers that hang take few places from others. Of one process.
 */
export interface AccountShares {
  /** An attempt has ended. */
  attempted(accountId: string, tookMs: number): void;
  /** Shares of those accounts that have less than the whole. */
  reduced(): ReadonlyMap<string, number>;
}

interface Reduced {
  share: number;
  slowAt: number;
}

/** @param whole share of an account that answers in time @param now milliseconds of a clock that never goes back */
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
