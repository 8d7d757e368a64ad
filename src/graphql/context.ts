import type { SessionToken } from '../services/accounts/sessions.service.js';
import type { LoaderContext } from './loader-context.js';
import type { Loaders } from './loaders.js';

/** Hands a session to a browser, or takes it away; over WebSocket there is no way to. */
export interface SessionJar {
  set(session: SessionToken): void;
  clear(): void;
}

/** What resolvers get. One per operation. */
export interface GraphqlContext extends LoaderContext {
  /** Made anew for each mutation of an operation: what the one before changed is read again. */
  loaders: Loaders;
  sessionJar: SessionJar;
}
