import { useReducer } from 'react';

/** What outlives the page is stored under its account, so that nobody else sees it. */
const PREFIX = 'gateway:draft:';

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

/**
 * Where drafts are stored: for this tab, which a reload keeps, and for the browser, which a restart keeps. Two tabs with the
 * same field each keep their own text.
 */
const STORES: readonly (() => Storage)[] = [() => sessionStorage, () => localStorage];

/** Whether a reload would find everything that was typed. */
export const areDraftsStored = (): boolean =>
  [...drafts].every(([field, text]) => owner !== undefined && readStored(field) === text);

/** Removes what is stored, but for the drafts of one account. */
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

/** What another tab has typed into the same field stays. */
function forgetStored(field: string, text: string | undefined): void {
  const name = nameOf(field);
  attempt(() => sessionStorage.removeItem(name));
  attempt(() => {
    if (text === undefined || localStorage.getItem(name) === text) localStorage.removeItem(name);
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

/** The text of a field, whichever page has changed it. */
export const draftOf = (field: string): string | undefined =>
  drafts.get(field) ?? (owner === undefined ? undefined : readStored(field));

/** Puts a text into a field that another page shows. */
export function leaveDraft(field: string, text: string): void {
  drafts.set(field, text);
  if (owner !== undefined) writeStored(field, text);
}

interface DraftOptions {
  /**
   * True for what may hold a secret, such as the address of a webhook: it survives a reload, but ends with its tab.
   */
  isOfTab?: boolean;
}

/**
 * What was typed into a field, whatever its length. It outlives the page, a reload and a new build, until it is sent, given up
 * or the log-out. Passwords and keys are never given to this.
 * @returns the text, undefined while nothing was typed; how to change it; how to forget it
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
