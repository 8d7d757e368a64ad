import { useEffect, useState, useSyncExternalStore } from 'react';
import { copyText } from '../app/ui/copy-text';
import { currentSession, onSessionChange, setSession } from './session';

const HEADER_EXAMPLE = '{"Authorization": "Bearer <access token>"}';

/** Shows which account sends the requests, and how to change that. */
export function SessionBar() {
  const session = useSyncExternalStore(onSessionChange, currentSession);
  return (
    <header className="session-bar">
      <h1>GraphQL playground</h1>
      <output>
        {session ? (
          <>
            Signed in{session.email ? ` as ${session.email}` : ''}: this token goes with every tab that has no
            Authorization under <b>Headers</b>.
          </>
        ) : (
          <>
            Not signed in. Run the tab <b>SignUp</b> or <b>LogIn</b> and its token goes with every tab; or
            write <code>{HEADER_EXAMPLE}</code> under <b>Headers</b>.
          </>
        )}
      </output>
      {session && (
        <>
          <CopyToken token={session.token} />
          <button type="button" onClick={() => setSession(null)}>
            Forget token
          </button>
        </>
      )}
      <a href="/docs/api">REST reference</a>
    </header>
  );
}

const CONFIRMED_MS = 2_000;

function CopyToken({ token }: { token: string }) {
  const [outcome, setOutcome] = useState<string>();
  useEffect(() => {
    if (!outcome) return;
    const timer = setTimeout(() => setOutcome(undefined), CONFIRMED_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async (): Promise<void> => setOutcome((await copyText(token)) ? 'Copied' : 'Couldn’t copy');
  return (
    <button type="button" aria-live="polite" onClick={() => void copy()}>
      {outcome ?? 'Copy token'}
    </button>
  );
}
