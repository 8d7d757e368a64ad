import { useReducer } from 'react';

/** Drafts are stored per account, so that nobody else sees them. */
const PREFIX = 'gateway:draft:';

/** The drafts of this page, whether or not they can be stored. */
const drafts = new Map<string, string>();
let owner: string | undefined;

const nameOf = (field: string): string => `${PREFIX}${owner}:${field}`;

/** Storage may be full or forbidden: then the page only keeps drafts in memory. */
function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

/**
 * Where drafts are stored: in session storage, which survives a reload, and in local storage, which survives a restart of the
 * browser. Two tabs with the same field each keep their own text.
 */
const STORES: readonly (() => Storage)[] = [() => sessionStorage, () => localStorage];

/** Whether a reload would restore everything that was typed. */
export const areDraftsStored = (): boolean =>
  [...drafts].every(([field, text]) => owner !== undefined && readStored(field) === text);

/** Removes all stored drafts except those of one account. */
function removeStored(except?: string): void {
  const kept = except === undefined ? undefined : `${PREFIX}${except}:`;
  for (const store of STORES) {
    attempt(() => {
      for (const name of Object.keys(store())) {
        if (name.startsWith(PREFIX) && !(kept && name.startsWith(kept))) store().removeItem(name);
      }
    });
  }
}

function readStored(field: string): string | undefined {
  for (const store of STORES) {
    const text = attempt(() => store().getItem(nameOf(field)));
    if (text !== undefined && text !== null) return text;
  }
  return undefined;
}

function writeStored(field: string, text: string, stores = STORES): void {
  for (const store of stores) attempt(() => store().setItem(nameOf(field), text));
}

/** Forgets a stored draft, but not what another tab has typed into the same field. */
function forgetStored(field: string, text: string | undefined): void {
  const name = nameOf(field);
  attempt(() => sessionStorage.removeItem(name));
  attempt(() => {
    if (text === undefined || localStorage.getItem(name) === text) localStorage.removeItem(name);
  });
}

/** Sets the account of the drafts; removes those of others. */
export function openDrafts(accountId: string): void {
  if (accountId === owner) return;
  if (owner !== undefined) drafts.clear();
  owner = accountId;
  removeStored(accountId);
}

/** For the log-out: removes everything that was typed. */
export function forgetDrafts(): void {
  drafts.clear();
  owner = undefined;
  removeStored();
}

/** The draft of a field, whichever page has changed it. */
export const draftOf = (field: string): string | undefined =>
  drafts.get(field) ?? (owner === undefined ? undefined : readStored(field));

/** Puts a draft into a field of another page. */
export function leaveDraft(field: string, text: string): void {
  drafts.set(field, text);
  if (owner !== undefined) writeStored(field, text);
}

interface DraftOptions {
  /**
   * True for fields that may hold a secret, such as the URL of a webhook: the draft survives a reload, but not its tab.
   */
  isOfTab?: boolean;
}

/**
 * The draft of a field. It survives other pages, a reload and a new build, until it is sent or discarded, or the user logs out. Not
 * for passwords and keys.
 * @returns the text, undefined while nothing was typed; a function that changes it; one that forgets it
 */
export function useDraft(
  field: string,
  { isOfTab = false }: DraftOptions = {},
): [text: string | undefined, change: (text: string) => void, forget: () => void] {
  const [, show] = useReducer((times: number) => times + 1, 0);
  const isStored = owner !== undefined;
  const known = draftOf(field);
  const change = (next: string): void => {
    drafts.set(field, next);
    if (isStored) writeStored(field, next, isOfTab ? STORES.slice(0, 1) : STORES);
    show();
  };
  const forget = (): void => {
    const last = drafts.get(field) ?? known;
    drafts.delete(field);
    if (isStored) forgetStored(field, last);
    show();
  };
  return [known, change, forget];
}
