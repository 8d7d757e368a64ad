import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { DeleteKeyDocument, type KeyRowFragment } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { paths } from '../../paths';
import { Dialog, DialogActions } from '../../ui/dialog';
import { ErrorNote } from '../../ui/error-note';

/** Final, so that it asks: names the key and what comes of it. */
export function DeleteKey({ apiKey: { id, name } }: { apiKey: KeyRowFragment }) {
  const [opened, setOpened] = useState(false);
  const navigate = useNavigate();
  const { run, error, sending } = useAction(DeleteKeyDocument);
  const remove = async (): Promise<void> => {
    const { data } = await run({ input: { id } });
    if (data) await navigate({ to: paths.keys, search: {} });
  };
  return (
    <>
      <Button variant="default" onClick={() => setOpened(true)}>
        Delete key
      </Button>
      <Dialog opened={opened} onClose={() => setOpened(false)} title={`Delete key ${name}?`}>
        {error && <ErrorNote error={error} />}
        <p>
          Calls with this key will fail with 401 immediately. This can’t be undone. Past calls stay in usage
          and ledger. To stop calls temporarily, disable the key instead.
        </p>
        <DialogActions>
          <Button color="red" loading={sending} onClick={() => void remove()}>
            Delete key
          </Button>
          <Button variant="default" onClick={() => setOpened(false)}>
            Keep it
          </Button>
        </DialogActions>
      </Dialog>
    </>
  );
}
