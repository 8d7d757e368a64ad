import type { OpenedSession } from '../services/accounts/sessions.service.js';
import type { LoaderContext } from './loader-context.js';
import type { Loaders } from './loaders.js';

/** Sets or clears a browser's session cookie; not possible over WebSocket. */
export interface SessionJar {
  set(session: OpenedSession): Promise<void>;
  clear(): void;
}

/** The context of resolvers, one per operation. */
export interface GraphqlContext extends LoaderContext {
  /** New for each mutation of an operation and each event of a subscription, so that changed data is read again. */
  loaders: Loaders;
  sessionJar: SessionJar;
}
