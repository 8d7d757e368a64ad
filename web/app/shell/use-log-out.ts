import { useNavigate } from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';
import { useMutation } from 'urql';
import { LogOutDocument } from '../../generated/graphql';
import { isSignedOut, type ShownError, shownError } from '../graphql/errors';
import { paths } from '../paths';
import { endSession, onSessionChange } from '../session';

/** Why the last log-out didn't happen: said by the shell, since whatever was pressed may be closed by then. */
let failure: ShownError | undefined;
const listeners = new Set<() => void>();

function tell(next: ShownError | undefined): void {
  failure = next;
  for (const listener of listeners) listener();
}

// Whoever logs in afterwards is meant to be logged in.
onSessionChange(() => tell(undefined));

const listen = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** Why the session goes on although somebody has logged out. */
export const useLogOutFailure = (): ShownError | undefined => useSyncExternalStore(listen, () => failure);

/** Ends the session everywhere that it is used, and goes to the log-in. Where the server didn't end it, everything stays. */
export function useLogOut(): () => Promise<void> {
  const navigate = useNavigate();
  const [, logOut] = useMutation(LogOutDocument);
  return async () => {
    tell(undefined);
    const { error } = await logOut({});
    if (error && !isSignedOut(error)) return tell(shownError(error));
    endSession();
    await navigate({ to: paths.login, search: {} });
  };
}
