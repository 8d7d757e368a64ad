import { Button } from '@mantine/core';
import { useState } from 'react';
import { RotateWidgetKeyDocument, type WidgetRowFragment } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { Dialog, DialogActions } from '../../ui/dialog';
import { ErrorNote } from '../../ui/error-note';

/** Pages break by it, so that it asks. */
export function RotateKey({ widget: { id, name } }: { widget: WidgetRowFragment }) {
  const [opened, setOpened] = useState(false);
  const { run, error, sending } = useAction(RotateWidgetKeyDocument);
  const rotate = async (): Promise<void> => {
    const { data } = await run({ input: { id } });
    if (data) setOpened(false);
  };
  return (
    <>
      <Button variant="default" onClick={() => setOpened(true)}>
        Rotate key
      </Button>
      <Dialog opened={opened} onClose={() => setOpened(false)} title={`Rotate the key of ${name}?`}>
        {error && <ErrorNote error={error} />}
        <p>The chat stops at once on every page with the old key, until you replace the script tag.</p>
        <DialogActions>
          <Button color="red" loading={sending} onClick={() => void rotate()}>
            Rotate key
          </Button>
          <Button variant="default" onClick={() => setOpened(false)}>
            Keep it
          </Button>
        </DialogActions>
      </Dialog>
    </>
  );
}
