import { useNavigate } from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';
import { useMutation } from 'urql';
import { LogOutDocument } from '../../generated/graphql';
import { isSignedOut, type ShownError, shownError } from '../graphql/errors';
import { paths } from '../paths';
import { endSession, onSessionChange } from '../session';

/** Why the last log-out failed. Shown by the layout, since the menu may be closed by then. */
let failure: ShownError | undefined;
const listeners = new Set<() => void>();

function setFailure(next: ShownError | undefined): void {
  failure = next;
  for (const listener of listeners) listener();
}

// A later log-in is intended.
onSessionChange(() => setFailure(undefined));

const listen = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** Why the last log-out failed; undefined if it didn't. */
export const useLogOutFailure = (): ShownError | undefined => useSyncExternalStore(listen, () => failure);

/** Ends the session in all tabs, and goes to the log-in. If the server doesn't end it, everything stays. */
export function useLogOut(): () => Promise<void> {
  const navigate = useNavigate();
  const [, logOut] = useMutation(LogOutDocument);
  return async () => {
    setFailure(undefined);
    const { error } = await logOut({});
    if (error && !isSignedOut(error)) return setFailure(shownError(error));
    endSession();
    await navigate({ to: paths.login, search: {} });
  };
}
