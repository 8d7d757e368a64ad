import { Button } from '@mantine/core';
import { Suspense, useEffect, useState } from 'react';
import type { SessionPartsFragment } from '../../../generated/graphql';
import { lazyPage } from '../../lazy-page';
import { ErrorNote } from '../../ui/error-note';
import { useFetched } from '../../use-fetched';

// Loaded on demand: the dialog is larger than the button.
const ShareDialog = lazyPage(() => import('./share-dialog'), 'ShareDialog');

/** Shows whether a session is public, and opens the dialog to share it. */
export function ShareSession({ session }: { session: SessionPartsFragment }) {
  const { id, shared, publicUrl } = session;
  const [opened, setOpened] = useState(false);
  const [wanted, setWanted] = useState(false);
  /** The link after a change made here, until the session is loaded again. */
  const [done, setDone] = useState<{ url: string | null }>();
  // Another tab may have replaced the link or stopped sharing.
  useEffect(() => setDone(undefined), [session]);
  const url = done ? done.url : shared ? (publicUrl ?? null) : null;
  const { fetchDialog, error } = useFetched(ShareDialog);
  const open = async (): Promise<void> => {
    if (!(await fetchDialog())) return;
    setWanted(true);
    setOpened(true);
  };
  return (
    <>
      <Button variant="default" onClick={() => void open()}>
        {url === null ? 'Share' : 'Shared'}
      </Button>
      {error && <ErrorNote error={error} />}
      {wanted && (
        <Suspense>
          <ShareDialog
            sessionId={id}
            url={url}
            opened={opened}
            onClose={() => setOpened(false)}
            onChange={(changed) => setDone({ url: changed })}
          />
        </Suspense>
      )}
    </>
  );
}
