import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';

/** Work under way, and on whose account it counts. */
export interface OwnedWork {
  owner: string;
}

const works = new AsyncLocalStorage<OwnedWork | undefined>();

/** Who owns the work of an account. */
export const accountOwner = (accountId: string): string => `account ${accountId}`;

/** Who owns the work of callers that haven't shown a session: their network, as one. */
export const networkOwner = (network: string): string => `network ${network}`;

/** Runs `task`, and all that follows from it, as part of `work`. */
export const asWork = <T>(work: OwnedWork, task: () => T): T => works.run(work, task);

/**
 * Runs `task`, and all that follows from it, as the process's own work: what is read for many must not wait in the line of whoever
 * asks first. How much of it runs at once has to be limited by other means.
 */
export const asOwnWork = <T>(task: () => T): T => works.run(undefined, task);

/** Whose work this is; undefined for the process's own. */
export const currentOwner = (): string | undefined => works.getStore()?.owner;

/** From now on the work under way is this account's. */
export function workBelongsTo(accountId: string): void {
  const work = works.getStore();
  if (work) work.owner = accountOwner(accountId);
}

/** A function bound to the current owner of work, no matter who calls it later. */
export const keepingOwner = <Args extends unknown[], Result>(
  task: (...args: Args) => Result,
): ((...args: Args) => Result) => AsyncResource.bind(task);
