import { useNavigate } from '@tanstack/react-router';
import { DeleteKeyDocument, type KeyRowFragment } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { paths } from '../../paths';
import { ConfirmButton } from '../../ui/confirm-dialog';
import { useNotePlace } from '../../ui/use-is-here';

/** Deletes a key after a confirmation, which names the key and the consequences. */
export function DeleteKey({ apiKey: { id, name } }: { apiKey: KeyRowFragment }) {
  const navigate = useNavigate();
  const notePlace = useNotePlace();
  const { run, error, sending } = useAction(DeleteKeyDocument);
  const remove = async (): Promise<void> => {
    const isHere = notePlace();
    const { data } = await run({ input: { id } });
    if (data && isHere()) await navigate({ to: paths.keys, search: {} });
  };
  return (
    <ConfirmButton
      action="Delete key"
      title={
        <>
          Delete key <em>{name}</em>?
        </>
      }
      onConfirm={remove}
      sending={sending}
      error={error}
    >
      <p>
        Calls with this key will fail with 401 immediately. This can’t be undone. Past calls stay in usage and
        ledger. To stop calls temporarily, disable the key instead.
      </p>
    </ConfirmButton>
  );
}
