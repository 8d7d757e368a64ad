import { DeletePlaygroundSessionDocument } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { ConfirmDialog, KEEP } from '../../ui/confirm-dialog';
import classes from './playground.module.css';

interface DeleteSessionProps {
  session: { id: string; shared: boolean };
  /** The beginning of the session's prompt. */
  words: string;
  onClose(): void;
  onDeleted(id: string): void;
}

/** Asks before a session is deleted. */
export function DeleteSession({ session: { id, shared }, words, onClose, onDeleted }: DeleteSessionProps) {
  const { run, error, sending } = useAction(DeletePlaygroundSessionDocument);
  const remove = async (): Promise<void> => {
    const { data } = await run({ input: { sessionId: id } });
    if (data) onDeleted(id);
  };
  return (
    <ConfirmDialog
      title="Delete this session?"
      onClose={onClose}
      action="Delete session"
      onConfirm={() => void remove()}
      sending={sending}
      error={error}
      danger
      cancel={KEEP}
    >
      <p className={classes.quoted}>{words}</p>
      <p>
        The prompt and its answers are permanently deleted.
        {shared && ' Its public link stops working immediately.'}
      </p>
    </ConfirmDialog>
  );
}
