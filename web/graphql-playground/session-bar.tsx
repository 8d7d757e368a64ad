import { useSyncExternalStore } from 'react';
import { copyText } from '../app/ui/copy-text';
import { currentSession, onSessionChange, setSession } from './session';

const HEADER_EXAMPLE = '{"Authorization": "Bearer <access token>"}';

/** Says as whom requests are sent, and how to change that. */
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
          <button type="button" onClick={() => void copyText(session.token)}>
            Copy token
          </button>
          <button type="button" onClick={() => setSession(null)}>
            Forget token
          </button>
        </>
      )}
      <a href="/docs/api">REST reference</a>
    </header>
  );
}
