import { setTimeout as pause } from 'node:timers/promises';
import { type ApiRequest, call } from '../../../support/api.js';
import { from } from './accounts.js';
import type { Tenant } from './messages.js';

/** What attackers know, and where they count the outcomes. */
export interface Target {
  url: string;
  tenant: Tenant;
  /** Mails of honest accounts. */
  victims: readonly string[];
  over(): boolean;
  /** One request of the named attack ended like this. */
  count(attack: string, outcome: string | number): void;
}

/** Prepares an attack with public operations only, and returns the attack, which runs until the time is over. */
export type Attack = (target: Target) => Promise<() => Promise<unknown>>;

/** One request of an attacker. No outcome stops the attack. */
export async function strike(
  target: Target,
  attack: string,
  address: string,
  [method, path]: readonly [string, string],
  request: ApiRequest = {},
): Promise<number> {
  const status = await call(target.url, method, path, {
    ...request,
    headers: { ...from(address), ...request.headers },
  }).then(
    (answer) => answer.status,
    () => 0,
  );
  target.count(attack, status === 0 ? 'cut' : status);
  return status;
}

/** Repeats a request, with the pauses that limit it. */
export async function repeatedly(
  target: Target,
  pauseMs: number,
  work: (round: number) => Promise<unknown>,
): Promise<void> {
  for (let round = 0; !target.over(); round++) {
    await work(round);
    await pause(pauseMs);
  }
}
