import { Button } from '@mantine/core';
import { SharePlaygroundSessionDocument, UnsharePlaygroundSessionDocument } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { CodeBlock } from '../../ui/code-block';
import { Dialog, DialogActions } from '../../ui/dialog';
import { ErrorNote } from '../../ui/error-note';

interface ShareDialogProps {
  sessionId: string;
  /** The public link; null while nothing is shared. */
  url: string | null;
  opened: boolean;
  onClose(): void;
  onChange(url: string | null): void;
}

/** Shares a session, stops sharing it, or gives it another link. */
export function ShareDialog({ sessionId, url, opened, onClose, onChange }: ShareDialogProps) {
  const sharing = useAction(SharePlaygroundSessionDocument, { touches: ['PlaygroundSession'] });
  const unsharing = useAction(UnsharePlaygroundSessionDocument);
  const share = async (rotate: boolean): Promise<void> => {
    unsharing.forget();
    const { data } = await sharing.run({ input: { sessionId, rotate } });
    if (data) onChange(data.sharePlaygroundSession.publicUrl);
  };
  const unshare = async (): Promise<void> => {
    sharing.forget();
    const { data } = await unsharing.run({ input: { sessionId } });
    if (data) onChange(null);
  };
  const error = sharing.error ?? unsharing.error;
  const sending = sharing.sending || unsharing.sending;
  return (
    <Dialog opened={opened} onClose={onClose} title="Share this session" wide>
      {error && <ErrorNote error={error} />}
      {url === null ? (
        <p>
          Anyone with the link can read the prompt, system prompt and answers without logging in. Your name
          isn’t shown, and search engines are asked not to index the page.
        </p>
      ) : (
        <>
          <p>Anyone with this link can read the session.</p>
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
              title="The current link stops working immediately"
              onClick={() => void share(true)}
            >
              New link
            </Button>
          </>
        )}
      </DialogActions>
    </Dialog>
  );
}
