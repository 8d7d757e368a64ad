import { type ReactNode, use } from 'react';

/** A part of the app could not be fetched. */
export class PartMissingError extends Error {}

type LazyPage<Props> = ((props: Props) => ReactNode) & {
  /** Ends also when it could not be fetched. */
  preload(): Promise<void>;
  isThere(): boolean;
};

interface LazyPart {
  forAdmins: boolean;
  fetch(): Promise<void>;
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
  { forAdmins = false }: { forAdmins?: boolean } = {},
): LazyPage<Props> {
  let Page: ((props: Props) => ReactNode) | undefined;
  let loading: Promise<void> | undefined;
  let failure: PartMissingError | undefined;

  const start = (): Promise<void> => {
    loading ??= load().then(
      (part) => {
        Page = part[name];
      },
      (error: unknown) => {
        loading = undefined;
        failure = new PartMissingError(`${name} could not be fetched`, { cause: error });
      },
    );
    return loading;
  };
  const part: LazyPart = {
    forAdmins,
    async fetch() {
      await start();
      failure = undefined;
    },
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
  return Object.assign(Lazy, { preload: part.fetch, isThere: () => Page !== undefined });
}

/** A page that only administrators see: nobody else fetches it before it is asked for. */
export const lazyAdminPage = <Name extends string, Props extends object = object>(
  load: () => Promise<Record<Name, (props: Props) => ReactNode>>,
  name: Name,
): LazyPage<Props> => lazyPage(load, name, { forAdmins: true });

/** Lets the next rendering try again what could not be fetched. */
export function forgetFailures(): void {
  for (const part of parts) part.forgetFailure();
}

const whenIdle: (act: () => void) => unknown =
  'requestIdleCallback' in window ? (act) => requestIdleCallback(act) : (act) => setTimeout(act, 500);

/** Fetches every page, one after the other while nothing else is to do: then a click needs the server no more. */
export function fetchPagesWhenIdle(isAdmin: boolean): void {
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  if (connection?.saveData) return;
  const waiting = parts.filter(({ forAdmins }) => isAdmin || !forAdmins);
  const next = (): void => {
    const part = waiting.shift();
    if (part) void part.fetch().then(() => whenIdle(next));
  };
  whenIdle(next);
}
