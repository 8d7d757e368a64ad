import { Button } from '@mantine/core';
import { useState } from 'react';
import { DeletePromptDocument, type PromptRowFragment } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { Dialog, DialogActions } from '../../ui/dialog';
import { ErrorNote } from '../../ui/error-note';

interface DeletePromptProps {
  prompt: PromptRowFragment;
  onDeleted(): void;
}

/** Final, so it asks: names the prompt and what comes of it. */
export function DeletePrompt({ prompt: { id, name, slug, versionCount }, onDeleted }: DeletePromptProps) {
  const [opened, setOpened] = useState(false);
  const { run, error, sending } = useAction(DeletePromptDocument);
  const remove = async (): Promise<void> => {
    const { data } = await run({ input: { id } });
    if (data) onDeleted();
  };
  return (
    <>
      <Button variant="default" onClick={() => setOpened(true)}>
        Delete prompt
      </Button>
      <Dialog opened={opened} onClose={() => setOpened(false)} title={`Delete prompt ${name}?`}>
        {error && <ErrorNote error={error} />}
        <p>
          This deletes {versionCount === 1 ? 'its version' : `all ${versionCount} versions`} for good.
          Programs that render <code>{slug}</code> will get 404 at once.
        </p>
        <DialogActions>
          <Button color="red" loading={sending} onClick={() => void remove()}>
            Delete prompt
          </Button>
          <Button variant="default" onClick={() => setOpened(false)}>
            Keep it
          </Button>
        </DialogActions>
      </Dialog>
    </>
  );
}
