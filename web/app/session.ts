import type { Client } from 'urql';
import { ViewerDocument, type ViewerQuery } from '../generated/graphql';
import { onDayTurn } from './day-turn';
import { connectionStands } from './freshness';
import { createGraphqlClient, SESSION_PROBE } from './graphql/client';
import { isSignedOut } from './graphql/errors';
import { dropFirst } from './graphql/first-question';
import { reconnectNow } from './graphql/lasting';
import { forgetRefusedClick, rememberRefusedClick } from './refused-click';
import { forgetDrafts, openDrafts } from './ui/draft';

/** The account of the session. */
export type Viewer = NonNullable<ViewerQuery['viewer']>;

const changed = new Set<() => void>();
const doubted = new Set<() => void>();
const returned = new Set<() => void>();
const missed = new Set<() => void>();
let inDoubt = false;
/** Whether somebody was signed in with this client. */
let seen = false;
/** Whether a click waits to hear that the account is still the same. */
let asksForClick = false;
/** Parts of the page that would be lost for good. */
let kept = 0;
let beginsAnewLater = false;
let client = createClient();

/** Asks again who is signed in: the session may have ended, or begun anew. */
export function doubtSession(): void {
  inDoubt = true;
  for (const listener of doubted) listener();
}

function onReturn(wasLost = false): void {
  if (wasLost) for (const listener of missed) listener();
  for (const listener of returned) listener();
}

function createClient(): Client {
  // Another tab has logged in as somebody else: only a page that begins anew holds nothing of the former account.
  const onOther = (shownAccount: string | undefined, isMutation: boolean): void => {
    if (made !== client) return;
    const isClick = isMutation || asksForClick;
    if (isClick && shownAccount) rememberRefusedClick(shownAccount);
    // The browser asks whether to leave what would be lost. Only a click is worth that question.
    if (kept > 0 && !isClick) beginsAnewLater = true;
    else location.reload();
  };
  const made = createGraphqlClient({ onDoubt: doubtSession, onReturn, onOther });
  return made;
}

/** Keeps the page from beginning anew by itself, until the returned function is called: something on it would be lost for good. */
export function keepPage(): () => void {
  kept++;
  return () => {
    kept--;
    if (kept === 0 && beginsAnewLater) location.reload();
  };
}

const listen = (listeners: Set<() => void>) => (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Calls back when the session has begun or ended here, until the returned function is called. */
export const onSessionChange = listen(changed);

/** Calls back when the session may have ended elsewhere: the server has refused it. */
export const onSessionDoubt = listen(doubted);

/**
 * Calls back when what is live was interrupted and is there again, somebody comes back to the page, or a day begins in UTC:
 * something may have been missed.
 */
export const onLiveReturn = listen(returned);

/** Calls back when what is live was interrupted and is there again, just before `onLiveReturn`: events have been missed. */
export const onLiveMissed = listen(missed);

/** The client of the current session. */
export const currentClient = (): Client => client;

/** Coming back to a page tells by two events. */
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
// A hidden page is read again when somebody comes back to it.
onDayTurn(() => document.visibilityState === 'visible' && onReturn());

/** Nothing of the account stays in this browser; for the log-out. */
export function endSession(): void {
  forgetDrafts();
  renewSession();
}

/** After a log-in, sign-up or log-out: nothing that one account has seen stays for the next. */
export function renewSession(): void {
  dropFirst();
  forgetRefusedClick();
  beginsAnewLater = false;
  client = createClient();
  // What the former session had lost is nothing to this one.
  connectionStands();
  seen = false;
  for (const listener of changed) listener();
}

/** Whether this visit had a session: who is nobody now has lost it. */
export const hasSeenViewer = (): boolean => seen;

/**
 * Who is signed in; null for nobody.
 * @throws CombinedError when that can't be told
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
 * Whether the cookie still names the account that the page shows, before a click does something that can't name it. If it names
 * another, this never resolves: the page begins anew. A server that doesn't answer holds nobody up: the browser says so.
 */
export async function isSameAccount(): Promise<boolean> {
  // The question may be under way already, for nobody's click.
  asksForClick = true;
  const { error } = await client.query(ViewerDocument, {}, { requestPolicy: 'network-only' }).toPromise();
  asksForClick = false;
  return !isSignedOut(error);
}
