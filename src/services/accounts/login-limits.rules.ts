import { MINUTE_MS } from '../../lib/clock.js';

export const LOGIN_WINDOW_MS = 15 * MINUTE_MS;

/** Failures of one account from one network: IPv4 /24, or IPv6 /64, /56 and /48. */
export const FAILURES_PER_ACCOUNT_AND_NETWORK = [10, 20, 30];

/** Failed logins of one account from networks where it has never signed in. */
export const FAILURES_PER_ACCOUNT = 100;

/** Failures and attempts of one network over all accounts: IPv4 address and /24, or IPv6 /64, /56 and /48. */
export const FAILURES_PER_NETWORK = [50, 100, 200];
export const ATTEMPTS_PER_NETWORK = [200, 400, 800];

/** Failed log-ins of one account from a network where it has signed in before. They count toward no other limit. */
export const ATTEMPTS_PER_KNOWN_NETWORK = 100;

/** A network stays known for this time after the last proof. */
export const KNOWN_NETWORK_DAYS = 90;

/**
 * Sign-ups that one network may try in a day: IPv4 /24, or IPv6 /64, /56 and /48. Failed sign-ups count too.
 * @param accounts Accounts a day allowed from one IPv4 /24 or IPv6 /64.
 */
export const signupAttempts = (accounts: number): number[] => {
  const least = Math.max(50, Math.ceil(accounts * 2.5));
  return [least, 2 * least, 4 * least];
};
