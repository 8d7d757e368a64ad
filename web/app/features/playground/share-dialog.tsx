import { Button } from '@mantine/core';
import { useState } from 'react';
import { SharePlaygroundSessionDocument, UnsharePlaygroundSessionDocument } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { CodeBlock } from '../../ui/code-block';
import { KEEP } from '../../ui/confirm-dialog';
import { Dialog, DialogActions } from '../../ui/dialog';
import { ErrorNote } from '../../ui/error-note';

interface ShareDialogProps {
  sessionId: string;
  /** The public link; null if the session isn't shared. */
  url: string | null;
  opened: boolean;
  onClose(): void;
  onChange(url: string | null): void;
}

/** Shares a session, stops sharing it, or replaces its link, after a confirmation. */
export function ShareDialog({ sessionId, url, opened, onClose, onChange }: ShareDialogProps) {
  const sharing = useAction(SharePlaygroundSessionDocument, { touches: ['PlaygroundSession'] });
  const unsharing = useAction(UnsharePlaygroundSessionDocument);
  const [isReplacing, setIsReplacing] = useState(false);
  const close = (): void => {
    setIsReplacing(false);
    onClose();
  };
  const share = async (rotate: boolean): Promise<void> => {
    unsharing.forget();
    const { data } = await sharing.run({ input: { sessionId, rotate } });
    if (!data) return;
    setIsReplacing(false);
    onChange(data.sharePlaygroundSession.publicUrl);
  };
  const unshare = async (): Promise<void> => {
    sharing.forget();
    const { data } = await unsharing.run({ input: { sessionId } });
    if (data) onChange(null);
  };
  const error = sharing.error ?? unsharing.error;
  const sending = sharing.sending || unsharing.sending;
  return (
    <Dialog opened={opened} onClose={close} title="Share this session" wide>
      {error && <ErrorNote error={error} />}
      {url === null ? (
        <p>
          Once it is shared, anyone with the link can read the prompt, system prompt and answers without
          logging in. Your name isn’t shown, and search engines are asked not to index the page.
        </p>
      ) : (
        <>
          <p>
            {isReplacing
              ? 'Create a new link? This one stops working immediately, wherever you have posted it. This can’t be undone.'
              : 'Anyone with this link can read the session. If it has reached the wrong people, create a new link: this one then stops working.'}
          </p>
          <CodeBlock label="Public link" code={url} what="link" />
        </>
      )}
      <DialogActions>
        {url === null && (
          <Button loading={sending} onClick={() => void share(false)}>
            Share
          </Button>
        )}
        {url !== null && isReplacing && (
          <>
            <Button color="red" loading={sending} onClick={() => void share(true)}>
              Create new link
            </Button>
            <Button variant="default" onClick={() => setIsReplacing(false)}>
              {KEEP}
            </Button>
          </>
        )}
        {url !== null && !isReplacing && (
          <>
            <Button variant="default" component="a" href={url} target="_blank" rel="noopener">
              Open link
            </Button>
            <Button variant="default" loading={sending} onClick={() => void unshare()}>
              Stop sharing
            </Button>
            <Button variant="default" disabled={sending} onClick={() => setIsReplacing(true)}>
              New link
            </Button>
          </>
        )}
      </DialogActions>
    </Dialog>
  );
}
