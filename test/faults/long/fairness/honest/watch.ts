import { setTimeout as pause } from 'node:timers/promises';
import { type ApiAnswer, type ApiRequest, call } from '../../../../support/api.js';
import { type Journal, steadyLoad } from '../../../rig/client.js';
import { from } from '../accounts.js';
import type { Account, Figure } from '../messages.js';

/** A while in which honest accounts are watched. */
export interface Watch {
  url: string;
  accounts: readonly Account[];
  /** All calls of `/v1`. */
  journal: Journal;
  over(): boolean;
  note(figure: Figure, ms: number): void;
  fault(text: string): void;
}

/** Does something at an even pace until the time is over, for one account after the other. An exception is a fault. */
export const evenly = (
  watch: Watch,
  perSecond: number,
  work: (account: Account, i: number) => Promise<void>,
): Promise<number> =>
  steadyLoad(perSecond, watch.over, (i) =>
    work(watch.accounts[i % watch.accounts.length]!, i).catch((error: unknown) =>
      watch.fault(String((error as Error).message ?? error)),
    ),
  );

/** One request of an honest account, from its own network. @throws Error unless it is answered with a 2xx. */
export async function ask<Answer = unknown>(
  { url }: Pick<Watch, 'url'>,
  { address, token }: Pick<Account, 'address' | 'token'>,
  method: string,
  path: string,
  request: ApiRequest = {},
): Promise<ApiAnswer<Answer>> {
  const answer = await call<Answer>(url, method, path, {
    ...(token !== '' && { token }),
    ...request,
    headers: { ...from(address), ...request.headers },
  });
  if (answer.status > 299) {
    throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text.slice(0, 200)}`);
  }
  return answer;
}

/** Records how long something took. */
export async function timed<T>(watch: Watch, figure: Figure, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await work();
  watch.note(figure, performance.now() - began);
  return result;
}

/** Waits for a promise with a timeout. @throws Error that names what is missing. */
export function inTime<T>(promise: Promise<T>, timeoutMs: number, what: string): Promise<T> {
  const limit = new AbortController();
  const late = pause(timeoutMs, undefined, { signal: limit.signal, ref: false }).then(() => {
    throw new Error(`${what} did not come within ${timeoutMs / 1_000} s`);
  });
  late.catch(() => undefined);
  return Promise.race([promise, late]).finally(() => limit.abort());
}
