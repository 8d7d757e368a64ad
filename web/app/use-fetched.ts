import { useState } from 'react';
import { reloadForNewBuild, reloadIfReachable } from './build';
import type { ShownError } from './graphql/errors';
import type { FetchedPart } from './lazy-page';

const NOT_FETCHED: ShownError = {
  code: 'network',
  message: 'This dialog couldn’t be loaded: the server can’t be reached. Try again.',
  fields: {},
  requestId: null,
};

/**
 * Fetches a dialog before it opens, so that a page never fails with it. While the server is away, `error` says so. If the server
 * has another build, the page is reloaded (build.ts). Another try also reloads it if the dialog is still missing once the server
 * is back: some browsers don't fetch a module again after a failure.
 */
export function useFetched(dialog: FetchedPart) {
  const [error, setError] = useState<ShownError | null>(null);
  const fetchDialog = async (): Promise<boolean> => {
    setError(null);
    await dialog.preload();
    if (dialog.isThere()) return true;
    await (error ? reloadIfReachable() : reloadForNewBuild());
    setError(NOT_FETCHED);
    return false;
  };
  return { fetchDialog, error };
}
