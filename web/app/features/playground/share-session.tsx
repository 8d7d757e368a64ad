import { Button } from '@mantine/core';
import { Suspense, useEffect, useState } from 'react';
import type { SessionPartsFragment } from '../../../generated/graphql';
import { lazyPage } from '../../lazy-page';
import { ErrorNote } from '../../ui/error-note';
import { useFetched } from '../../use-fetched';

// A dialog weighs more than the button.
const ShareDialog = lazyPage(() => import('./share-dialog'), 'ShareDialog');

/** Whether everybody who has the address can read a session. */
export function ShareSession({ session }: { session: SessionPartsFragment }) {
  const { id, shared, publicUrl } = session;
  const [opened, setOpened] = useState(false);
  const [wanted, setWanted] = useState(false);
  /** What was done here, until the session is read again. */
  const [done, setDone] = useState<{ url: string | null }>();
  // Another tab may have shared it anew since, or no longer shares it.
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
