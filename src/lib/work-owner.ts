import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';

/** Work in progress and its owner. */
export interface OwnedWork {
  owner: string;
}

const works = new AsyncLocalStorage<OwnedWork | undefined>();

export const accountOwner = (accountId: string): string => `account ${accountId}`;

/** Owner of the work of callers without a session: their network. */
export const networkOwner = (network: string): string => `network ${network}`;

/** Runs `task`, and everything it starts, as part of `work`. */
export const asWork = <T>(work: OwnedWork, task: () => T): T => works.run(work, task);

/**
 * Runs `task`, and everything it starts, as the process's own work: data that is read for many callers must not wait in the queue of
 * the first one. Limit its concurrency by other means.
 */
export const asOwnWork = <T>(task: () => T): T => works.run(undefined, task);

/** Owner of the current work; undefined for the process's own work. */
export const currentOwner = (): string | undefined => works.getStore()?.owner;

/** Makes an account the owner of the current work. */
export function workBelongsTo(accountId: string): void {
  const work = works.getStore();
  if (work) work.owner = accountOwner(accountId);
}

/** Binds a function to the current owner, so that later calls of the function count as the owner's work. */
export const keepingOwner = <Args extends unknown[], Result>(
  task: (...args: Args) => Result,
): ((...args: Args) => Result) => AsyncResource.bind(task);
