import type { Entry } from '../../rig/client.js';

/** Messages between the driver and its processes, one with honest accounts and one with attackers. */

/** Somebody with a session and a key, who always comes from one address. */
export interface Account {
  accountId: string;
  email: string;
  token: string;
  key: string;
  keyId: string;
  address: string;
}

/** Measurements of honest accounts, in milliseconds. */
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

/** Resources that a process used during its work: shares of one core, and of its event loop. */
export interface Effort {
  cores: number;
  loop: number;
}

/** What honest accounts saw during a measurement. */
export interface Seen {
  times: Record<Figure, number[]>;
  /** Everything that was refused, lost or never came, in words. */
  faults: string[];
  /** Their calls of `/v1`. */
  entries: Entry[];
  alerts: number;
  effort: Effort;
}

/** Outcomes of the attackers' requests, calls and connections. */
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

/** Mails that the honest process's mail server accepted, by address. */
export type MailCounts = Record<string, number>;
