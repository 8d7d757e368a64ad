import type { Payer } from '../../payer.js';

/** The prefix of all Redis keys of an account. */
export const tagOf = (accountId: string): string => `gw:{${accountId}}`;

/** The hash of all states with open amounts. */
export const OPEN_KEY = 'gw:open';

/** An account's balance and its open amounts on each edge. */
export const balanceKey = (accountId: string): string => `${tagOf(accountId)}:balance`;

/** A capped key's spend on a day and its open amounts on each edge. */
export const capKey = ({ account, credential }: Payer, day: string): string =>
  `${tagOf(account.id)}:cap:${credential.id}:${day}`;

/** A widget's messages of the last minute. */
export const widgetRateKey = (accountId: string, name: string): string => `${tagOf(accountId)}:rate:${name}`;

/** An account's calls of the last minute, with any of its keys. */
const accountRateKey = (accountId: string): string => `${tagOf(accountId)}:rate`;

/** The set in which a payer's calls of the last minute are counted. */
export const rateKey = ({ account, rate }: Payer): string =>
  rate ? widgetRateKey(account.id, rate.name) : accountRateKey(account.id);
