import type { Entry } from '../../rig/client.js';

/** What the driver and its processes tell each other: honest accounts in one, attackers in another. */

/** Somebody with a session and a key, who always comes from one address. */
export interface Account {
  accountId: string;
  email: string;
  token: string;
  key: string;
  keyId: string;
  address: string;
}

/** What is measured for honest accounts, in milliseconds. */
export const FIGURES = [
  '/v1 call',
  'GET /api/auth/me',
  'page of the dashboard with its assets',
  'log-in',
  'GraphQL page of usage',
  'alert by webhook',
  'alert by mail',
  'live event',
  'top-up to usable balance',
] as const;
export type Figure = (typeof FIGURES)[number];

/** What a process used while it worked: shares of one core, and of its event loop. */
export interface Effort {
  cores: number;
  loop: number;
}

/** What honest accounts saw in a while. */
export interface Seen {
  times: Record<Figure, number[]>;
  /** Everything that was refused, lost or never came, in words. */
  faults: string[];
  /** Their calls of `/v1`. */
  entries: Entry[];
  alerts: number;
  effort: Effort;
}

/** What attackers did: how often each request, call or connection ended how. */
export interface Attacked {
  seconds: number;
  tally: Record<string, Record<string, number>>;
  /** Why attacks ended before the others. */
  brokeOff: string[];
  effort: Effort;
}

/** The one large customer among the attackers. */
export interface Tenant extends Account {
  /** A key that hardly made a call. */
  rareKeyId: string;
}

export interface HonestOrder {
  url: string;
  accounts: readonly Account[];
  /** How long to watch. */
  watchMs: number;
}

export interface AttackOrder {
  url: string;
  tenant: Tenant;
  /** Mails of honest accounts, which attackers may know. */
  victims: readonly string[];
}

/** What the mail server of the honest process has taken, by address. */
export type MailCounts = Record<string, number>;
