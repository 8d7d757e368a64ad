/** The account of the last sign-up or log-in in this browser tab. Forgotten with the tab. */
export interface PlaygroundSession {
  token: string;
  email: string | null;
}

const KEY = 'playground-session';
const listeners = new Set<() => void>();

function read(): PlaygroundSession | null {
  const text = sessionStorage.getItem(KEY);
  return text === null ? null : (JSON.parse(text) as PlaygroundSession);
}

let current = read();

/** The session whose token is added to every request without one. */
export const currentSession = (): PlaygroundSession | null => current;

export function setSession(session: PlaygroundSession | null): void {
  current = session;
  if (session) sessionStorage.setItem(KEY, JSON.stringify(session));
  else sessionStorage.removeItem(KEY);
  for (const listener of listeners) listener();
}

/** Calls back on every change, until the returned function is called. */
export function onSessionChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** The session in a result, under any name: a field with an `accessToken` is a sign-up or a log-in. */
export function sessionIn(result: unknown): PlaygroundSession | null {
  if (!isRecord(result) || !isRecord(result.data)) return null;
  for (const field of Object.values(result.data)) {
    if (!isRecord(field) || typeof field.accessToken !== 'string') continue;
    const owner = isRecord(field.user) ? field.user : field;
    return { token: field.accessToken, email: typeof owner.email === 'string' ? owner.email : null };
  }
  return null;
}
