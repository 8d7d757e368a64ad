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

/** A part as far as it is fetched. */
export interface FetchedPart {
  /** Ends also when it could not be fetched. */
  preload(): Promise<void>;
  isThere(): boolean;
}

type LazyPage<Props> = ((props: Props) => ReactNode) & FetchedPart;

/**
 * Who comes to a part: somebody who isn't signed in yet, everybody who is, or administrators alone. A part for `nobody` in
 * particular is only fetched when it is shown.
 */
type Audience = 'visitors' | 'users' | 'admins' | 'nobody';

interface LazyPart {
  audience: Audience;
  fetch(): Promise<void>;
  isThere(): boolean;
  /** What a rendering has failed with is tried again by the next. */
  forgetFailure(): void;
}

const parts: LazyPart[] = [];

/**
 * A page, or another part of the app, that is fetched when it is first shown, or before that by `preload`. Unlike the router's own it never loads the
 * document anew: that is decided where its error is shown (shell/error-page.tsx). A page declares its return type: the router's type is made of it, and inferred it would depend on itself.
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

/** A page that only administrators see: nobody else fetches it before it is asked for. */
export const lazyAdminPage = <Name extends string, Props extends object = object>(
  load: () => Promise<Record<Name, (props: Props) => ReactNode>>,
  name: Name,
): LazyPage<Props> => lazyPage(load, name, 'admins');

/** A page before the log-in: whoever is signed in has no use for it. */
export const lazyEntryPage = <Name extends string, Props extends object = object>(
  load: () => Promise<Record<Name, (props: Props) => ReactNode>>,
  name: Name,
): LazyPage<Props> => lazyPage(load, name, 'visitors');

/** A part too large to be fetched before somebody comes to it. */
export const lazyLargePart = <Name extends string, Props extends object = object>(
  load: () => Promise<Record<Name, (props: Props) => ReactNode>>,
  name: Name,
): LazyPage<Props> => lazyPage(load, name, 'nobody');

/** Lets the next rendering try again what could not be fetched. */
export function forgetFailures(): void {
  for (const part of parts) part.forgetFailure();
}

const whenIdle: (act: () => void) => unknown =
  'requestIdleCallback' in window ? (act) => requestIdleCallback(act) : (act) => setTimeout(act, 500);

/** The first view is drawn, asked for and painted by then, on slow phones too; a link that is pointed at fetches its page at once. */
const SETTLED_MS = 8_000;

/**
 * Fetches every page of a user, one after the other while nothing else is to do: then a click needs the server no more. It ends with
 * the first that can't be fetched.
 * @returns what stops it from beginning
 */
export function fetchPagesWhenIdle(isAdmin: boolean): (() => void) | undefined {
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  if (connection?.saveData) return undefined;
  const waiting = parts.filter(({ audience }) => audience === 'users' || (isAdmin && audience === 'admins'));
  const next = (): void => {
    const part = waiting.shift();
    // Some browsers don't fetch again what they couldn't fetch: while the server is away, all others are better left for later.
    if (part && navigator.onLine) void part.fetch().then(() => part.isThere() && whenIdle(next));
  };
  const timer = setTimeout(() => whenIdle(next), SETTLED_MS);
  return () => clearTimeout(timer);
}
