import type { GraphqlContext } from '../context.js';
import type { Viewer } from './accounts.types.js';

/** The account of the session. */
export function loadViewer({ service, loaders }: GraphqlContext): Promise<Viewer | null> {
  return loaders.users.load(service.viewer!.accountId);
}
