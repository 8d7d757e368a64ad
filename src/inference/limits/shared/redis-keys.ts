import type { Payer } from '../../payer.js';

/** What all keys of an account begin with. */
export const tagOf = (accountId: string): string => `gw:{${accountId}}`;

/** Which states have anything open. */
export const OPEN_KEY = 'gw:open';

/** What is left of an account and open on the edges. */
export const balanceKey = (accountId: string): string => `${tagOf(accountId)}:balance`;

/** What a capped key has spent on a day and has open on the edges. */
export const capKey = ({ account, credential }: Payer, day: string): string =>
  `${tagOf(account.id)}:cap:${credential.id}:${day}`;

/** The messages of a widget in the last minute. */
export const widgetRateKey = (accountId: string, name: string): string => `${tagOf(accountId)}:rate:${name}`;

/** The calls of an account in the last minute, whatever key they were made with. */
const accountRateKey = (accountId: string): string => `${tagOf(accountId)}:rate`;

/** What a payer's calls of the last minute are counted in. */
export const rateKey = ({ account, rate }: Payer): string =>
  rate ? widgetRateKey(account.id, rate.name) : accountRateKey(account.id);
