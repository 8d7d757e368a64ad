import { Button } from '@mantine/core';
import { useState } from 'react';
import {
  type SessionPartsFragment,
  SharePlaygroundSessionDocument,
  UnsharePlaygroundSessionDocument,
} from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { CodeBlock } from '../../ui/code-block';
import { Dialog, DialogActions } from '../../ui/dialog';
import { ErrorNote } from '../../ui/error-note';

/** Whether everybody who has the address can read a session. */
export function ShareSession({ session: { id, shared, publicUrl } }: { session: SessionPartsFragment }) {
  const [opened, setOpened] = useState(false);
  const sharing = useAction(SharePlaygroundSessionDocument);
  const unsharing = useAction(UnsharePlaygroundSessionDocument);
  /** What was done here, until the session is read again. */
  const [done, setDone] = useState<{ url: string | null }>();
  const url = done ? done.url : shared ? (publicUrl ?? null) : null;
  const share = async (rotate: boolean): Promise<void> => {
    unsharing.forget();
    const { data } = await sharing.run({ input: { sessionId: id, rotate } });
    if (data) setDone({ url: data.sharePlaygroundSession.publicUrl });
  };
  const unshare = async (): Promise<void> => {
    sharing.forget();
    const { data } = await unsharing.run({ input: { sessionId: id } });
    if (data) setDone({ url: null });
  };
  const error = sharing.error ?? unsharing.error;
  const sending = sharing.sending || unsharing.sending;
  return (
    <>
      <Button variant="default" onClick={() => setOpened(true)}>
        {url === null ? 'Share' : 'Shared'}
      </Button>
      <Dialog opened={opened} onClose={() => setOpened(false)} title="Share this session" wide>
        {error && <ErrorNote error={error} />}
        {url === null ? (
          <p>
            Anyone who has the link can read prompt, system prompt and answers, without signing in. Your name
            isn’t shown, and search engines are told to stay away.
          </p>
        ) : (
          <>
            <p>Anyone who has this link can read the session.</p>
            <CodeBlock label="Public link" code={url} what="link" />
          </>
        )}
        <DialogActions>
          {url === null ? (
            <Button loading={sending} onClick={() => void share(false)}>
              Share
            </Button>
          ) : (
            <>
              <Button variant="default" component="a" href={url} target="_blank" rel="noopener">
                Open link
              </Button>
              <Button variant="default" loading={sending} onClick={() => void unshare()}>
                Stop sharing
              </Button>
              <Button
                variant="default"
                loading={sending}
                title="The link before stops working at once"
                onClick={() => void share(true)}
              >
                New link
              </Button>
            </>
          )}
        </DialogActions>
      </Dialog>
    </>
  );
}
