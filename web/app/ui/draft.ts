import { useReducer } from 'react';

/** What outlives the page stands under the account whose it is, so that nobody else is shown it. */
const PREFIX = 'gateway:draft:';
/** A draft is a name, an amount or an address; longer ones are kept by this page alone. */
const MAX_LENGTH = 500;

/** What was typed on this page, whether or not it may be stored. */
const drafts = new Map<string, string>();
let owner: string | undefined;

const nameOf = (field: string): string => `${PREFIX}${owner}:${field}`;

/** Storage may be full, or forbidden: the page goes on with what it remembers by itself. */
function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

/** Removes what is stored, but for the drafts of one account. */
function removeStored(except?: string): void {
  attempt(() => {
    const kept = except === undefined ? undefined : `${PREFIX}${except}:`;
    for (const name of Object.keys(localStorage)) {
      if (name.startsWith(PREFIX) && !(kept && name.startsWith(kept))) localStorage.removeItem(name);
    }
  });
}

/** Says whose drafts these are: nothing that another account has typed stays. */
export function openDrafts(accountId: string): void {
  if (accountId === owner) return;
  if (owner !== undefined) drafts.clear();
  owner = accountId;
  removeStored(accountId);
}

/** Nothing stays that was typed; for the log-out. */
export function forgetDrafts(): void {
  drafts.clear();
  owner = undefined;
  removeStored();
}

interface DraftOptions {
  /** True for what may hold a secret, such as the address of a webhook: this page alone remembers it. */
  secret?: boolean;
}

/**
 * What was typed into a field. It outlives the page, a reload and a new build, until it is sent, given up or the log-out.
 * Passwords and keys are never given to this.
 * @returns the text, undefined while nothing was typed; how to change it; how to forget it
 */
export function useDraft(
  field: string,
  { secret = false }: DraftOptions = {},
): [text: string | undefined, change: (text: string) => void, forget: () => void] {
  const [, show] = useReducer((times: number) => times + 1, 0);
  const isStored = !secret && owner !== undefined;
  const text =
    drafts.get(field) ?? (isStored ? attempt(() => localStorage.getItem(nameOf(field))) : undefined);
  const change = (next: string): void => {
    drafts.set(field, next);
    if (isStored && next.length <= MAX_LENGTH) attempt(() => localStorage.setItem(nameOf(field), next));
    show();
  };
  const forget = (): void => {
    drafts.delete(field);
    if (isStored) attempt(() => localStorage.removeItem(nameOf(field)));
    show();
  };
  return [text ?? undefined, change, forget];
}
