import type { Client } from 'urql';
import { ViewerDocument, type ViewerQuery } from '../generated/graphql';
import { createGraphqlClient } from './graphql/client';
import { isSignedOut } from './graphql/errors';

/** The account of the session. */
export type Viewer = NonNullable<ViewerQuery['viewer']>;

const listeners = new Set<() => void>();
let client = createGraphqlClient();

/** The client of the current session. */
export const currentClient = (): Client => client;

/** Calls back when the session has begun or ended, until the returned function is called. */
export function onSessionChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** After a log-in, sign-up or log-out: nothing that one account has seen stays for the next. */
export function renewSession(): void {
  client = createGraphqlClient();
  for (const listener of listeners) listener();
}

/**
 * Who is signed in; null for nobody.
 * @throws CombinedError when that can't be told
 */
export async function loadViewer(): Promise<Viewer | null> {
  const { data, error } = await client.query(ViewerDocument, {}).toPromise();
  if (isSignedOut(error)) return null;
  if (error) throw error;
  return data?.viewer ?? null;
}
