import type { Client } from 'urql';
import { ViewerDocument, type ViewerQuery } from '../generated/graphql';
import { onDayTurn } from './day-turn';
import { connectionOpened } from './freshness';
import { createGraphqlClient, SESSION_PROBE } from './graphql/client';
import { isSignedOut } from './graphql/errors';
import { dropFirst } from './graphql/first-question';
import { reconnectNow } from './graphql/lasting';
import { forgetRefusedClick, rememberRefusedClick } from './refused-click';
import { forgetDrafts, openDrafts } from './ui/draft';

export type Viewer = NonNullable<ViewerQuery['viewer']>;

const changed = new Set<() => void>();
const doubted = new Set<() => void>();
const returned = new Set<() => void>();
const missed = new Set<() => void>();
let inDoubt = false;
/** Whether somebody was signed in with this client. */
let seen = false;
/** Whether a click waits for the check that the account is still the same. */
let asksForClick = false;
/** How many parts of the page would be lost for good by a reload. */
let kept = 0;
let reloadsLater = false;
let client = createClient();

/** Checks the session again: it may have ended, or another may have begun. */
export function doubtSession(): void {
  inDoubt = true;
  for (const listener of doubted) listener();
}

function onReturn(wasLost = false): void {
  if (wasLost) for (const listener of missed) listener();
  for (const listener of returned) listener();
}

function createClient(): Client {
  // Another tab has logged in to another account: only a reload removes everything of the former account.
  const onOther = (shownAccount: string | undefined, isMutation: boolean): void => {
    if (made !== client) return;
    const isClick = isMutation || asksForClick;
    if (isClick && shownAccount) rememberRefusedClick(shownAccount);
    // The browser asks before it loses something. Only a click justifies that question.
    if (kept > 0 && !isClick) reloadsLater = true;
    else location.reload();
  };
  const made = createGraphqlClient({ onDoubt: doubtSession, onReturn, onOther });
  return made;
}

/** Keeps the page from reloading by itself until the returned function is called: something on it would be lost for good. */
export function keepPage(): () => void {
  kept++;
  return () => {
    kept--;
    if (kept === 0 && reloadsLater) location.reload();
  };
}

const listen = (listeners: Set<() => void>) => (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Calls back when the session has begun or ended in this tab, until the returned function is called. */
export const onSessionChange = listen(changed);

/** Calls back when the session may have ended elsewhere: the server has refused it. */
export const onSessionDoubt = listen(doubted);

/**
 * Calls back when the live connection is back, the user comes back to the page, or a day begins in UTC: something may have been
 * missed.
 */
export const onLiveReturn = listen(returned);

/** Calls back when the live connection is back, just before `onLiveReturn`: events have been missed. */
export const onLiveMissed = listen(missed);

export const currentClient = (): Client => client;

/** Coming back to a page causes two events. */
const RETURN_MS = 1_000;
let returnedAtMs = Number.NEGATIVE_INFINITY;

function lookedAt(): void {
  if (document.visibilityState !== 'visible' || performance.now() - returnedAtMs < RETURN_MS) return;
  returnedAtMs = performance.now();
  reconnectNow();
  onReturn();
}

addEventListener('focus', lookedAt);
document.addEventListener('visibilitychange', lookedAt);
addEventListener('online', reconnectNow);
// A hidden page is refreshed when the user comes back to it.
onDayTurn(() => document.visibilityState === 'visible' && onReturn());

/** For the log-out: removes everything of the account from this browser. */
export function endSession(): void {
  forgetDrafts();
  renewSession();
}

/** After a log-in, sign-up or log-out: nothing of one account stays for the next. */
export function renewSession(): void {
  dropFirst();
  forgetRefusedClick();
  reloadsLater = false;
  client = createClient();
  // A lost connection of the former session doesn't matter to this one.
  connectionOpened();
  seen = false;
  for (const listener of changed) listener();
}

/** Whether this visit had a session, which may have ended since. */
export const hasSeenViewer = (): boolean => seen;

/**
 * Who is signed in; null for nobody.
 * @throws CombinedError when the server doesn't answer
 */
export async function loadViewer(): Promise<Viewer | null> {
  const requestPolicy = inDoubt ? 'network-only' : 'cache-first';
  inDoubt = false;
  const { data, error } = await client
    .query(ViewerDocument, {}, { ...SESSION_PROBE, requestPolicy })
    .toPromise();
  if (isSignedOut(error)) return null;
  if (error) throw error;
  const viewer = data?.viewer ?? null;
  seen ||= viewer !== null;
  if (viewer) openDrafts(viewer.id);
  return viewer;
}

/**
 * Whether the cookie still names the account that the page shows. Checked before a click that can't send the account. If the cookie
 * names another, this never resolves: the page reloads. If the server doesn't answer, the click goes on, and the browser shows why.
 */
export async function isSameAccount(): Promise<boolean> {
  // The query may be under way already, without a click.
  asksForClick = true;
  const { error } = await client.query(ViewerDocument, {}, { requestPolicy: 'network-only' }).toPromise();
  asksForClick = false;
  return !isSignedOut(error);
}
