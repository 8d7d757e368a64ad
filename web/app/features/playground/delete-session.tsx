import { Button } from '@mantine/core';
import { DeletePlaygroundSessionDocument } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { Dialog, DialogActions } from '../../ui/dialog';
import { ErrorNote } from '../../ui/error-note';
import classes from './playground.module.css';

interface DeleteSessionProps {
  session: { id: string; shared: boolean };
  /** The beginning of its prompt. */
  words: string;
  onClose(): void;
  onDeleted(id: string): void;
}

/** Final, so it asks. */
export function DeleteSession({ session: { id, shared }, words, onClose, onDeleted }: DeleteSessionProps) {
  const { run, error, sending } = useAction(DeletePlaygroundSessionDocument);
  const remove = async (): Promise<void> => {
    const { data } = await run({ input: { sessionId: id } });
    if (data) onDeleted(id);
  };
  return (
    <Dialog opened onClose={onClose} title="Delete this session?">
      {error && <ErrorNote error={error} />}
      <p className={classes.quoted}>{words}</p>
      <p>
        Prompt and answers are deleted for good.
        {shared && ' Its public link stops working at once.'}
      </p>
      <DialogActions>
        <Button color="red" loading={sending} onClick={() => void remove()}>
          Delete session
        </Button>
        <Button variant="default" onClick={onClose}>
          Keep it
        </Button>
      </DialogActions>
    </Dialog>
  );
}
