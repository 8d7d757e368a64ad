import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { DeleteWidgetDocument, type WidgetRowFragment } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { paths } from '../../paths';
import { Dialog, DialogActions } from '../../ui/dialog';
import { ErrorNote } from '../../ui/error-note';

/** Final, so that it asks: names the widget and what comes of it. */
export function DeleteWidget({ widget: { id, name } }: { widget: WidgetRowFragment }) {
  const [opened, setOpened] = useState(false);
  const navigate = useNavigate();
  const { run, error, sending } = useAction(DeleteWidgetDocument);
  const remove = async (): Promise<void> => {
    const { data } = await run({ input: { id } });
    if (data) await navigate({ to: paths.widgets });
  };
  return (
    <>
      <Button variant="default" onClick={() => setOpened(true)}>
        Delete widget
      </Button>
      <Dialog opened={opened} onClose={() => setOpened(false)} title={`Delete widget ${name}?`}>
        {error && <ErrorNote error={error} />}
        <p>
          The chat disappears from every page that has it, and nobody can bring it back. What it has cost
          stays in usage and ledger.
        </p>
        <DialogActions>
          <Button color="red" loading={sending} onClick={() => void remove()}>
            Delete widget
          </Button>
          <Button variant="default" onClick={() => setOpened(false)}>
            Keep it
          </Button>
        </DialogActions>
      </Dialog>
    </>
  );
}
