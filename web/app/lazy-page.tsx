import { type ReactNode, use } from 'react';
import { forgetReload } from './build';

/** A part of the app could not be fetched. */
export class PartMissingError extends Error {
  constructor(
    /** The name of the part. */
    readonly part: string,
    options: ErrorOptions,
  ) {
    super(`${part} could not be fetched`, options);
  }
}

/** A part of the app that is fetched on demand. */
export interface FetchedPart {
  /** Resolves even if the part could not be fetched. */
  preload(): Promise<void>;
  isThere(): boolean;
}

type LazyPage<Props> = ((props: Props) => ReactNode) & FetchedPart;

/**
 * Who uses a part: visitors who aren't signed in, users, or administrators. A part for `nobody` is only fetched when it is shown.
 */
type Audience = 'visitors' | 'users' | 'admins' | 'nobody';

interface LazyPart {
  audience: Audience;
  fetch(): Promise<void>;
  isThere(): boolean;
  /** Lets the next rendering try again after a failure. */
  forgetFailure(): void;
}

const parts: LazyPart[] = [];

/**
 * A page, or another part of the app, that is fetched when it is first shown, or earlier by `preload`. Unlike the router's own
 * function it never reloads the document: shell/error-page.tsx decides that. A page declares its return type: the router's type
 * contains it, and an inferred one would depend on itself.
 */
export function lazyPage<Name extends string, Props extends object = object>(
  load: () => Promise<Record<Name, (props: Props) => ReactNode>>,
  name: Name,
  audience: Audience = 'users',
): LazyPage<Props> {
  let Page: ((props: Props) => ReactNode) | undefined;
  let loading: Promise<void> | undefined;
  let failure: PartMissingError | undefined;

  const start = (): Promise<void> => {
    loading ??= load().then(
      (part) => {
        Page = part[name];
        forgetReload(name);
      },
      (error: unknown) => {
        loading = undefined;
        failure = new PartMissingError(name, { cause: error });
      },
    );
    return loading;
  };
  const part: LazyPart = {
    audience,
    async fetch() {
      await start();
      failure = undefined;
    },
    isThere: () => Page !== undefined,
    forgetFailure() {
      failure = undefined;
    },
  };
  parts.push(part);

  function Lazy(props: Props) {
    if (!Page) {
      if (failure) throw failure;
      use(start());
    }
    return Page ? <Page {...props} /> : null;
  }
  return Object.assign(Lazy, { preload: part.fetch, isThere: part.isThere });
}

/** A page for administrators: nobody else fetches it in advance. */
export const lazyAdminPage = <Name extends string, Props extends object = object>(
  load: () => Promise<Record<Name, (props: Props) => ReactNode>>,
  name: Name,
): LazyPage<Props> => lazyPage(load, name, 'admins');

/** A page before the log-in: signed-in users don't fetch it. */
export const lazyEntryPage = <Name extends string, Props extends object = object>(
  load: () => Promise<Record<Name, (props: Props) => ReactNode>>,
  name: Name,
): LazyPage<Props> => lazyPage(load, name, 'visitors');

/** A part too large to be fetched in advance. */
export const lazyLargePart = <Name extends string, Props extends object = object>(
  load: () => Promise<Record<Name, (props: Props) => ReactNode>>,
  name: Name,
): LazyPage<Props> => lazyPage(load, name, 'nobody');

/** Lets the next rendering fetch failed parts again. */
export function forgetFailures(): void {
  for (const part of parts) part.forgetFailure();
}

const whenIdle: (act: () => void) => unknown =
  'requestIdleCallback' in window ? (act) => requestIdleCallback(act) : (act) => setTimeout(act, 500);

/** By then the first view has been loaded and painted, on slow phones too. Pointing at a link fetches its page at once. */
const SETTLED_MS = 8_000;

/**
 * Fetches every page of a user, one after the other while the browser is idle, so that a click doesn't have to. Stops at the first
 * page that can't be fetched.
 * @returns a function that keeps it from beginning
 */
export function fetchPagesWhenIdle(isAdmin: boolean): (() => void) | undefined {
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  if (connection?.saveData) return undefined;
  const waiting = parts.filter(({ audience }) => audience === 'users' || (isAdmin && audience === 'admins'));
  const next = (): void => {
    const part = waiting.shift();
    // Some browsers don't fetch a module again after a failure: while the server is away, the others are left for later.
    if (part && navigator.onLine) void part.fetch().then(() => part.isThere() && whenIdle(next));
  };
  const timer = setTimeout(() => whenIdle(next), SETTLED_MS);
  return () => clearTimeout(timer);
}
