import { useNavigate } from '@tanstack/react-router';
import { DeleteWidgetDocument, type WidgetRowFragment } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { paths } from '../../paths';
import { ConfirmButton } from '../../ui/confirm-dialog';
import { useNotePlace } from '../../ui/use-is-here';

/** Deletes a widget after a confirmation, which names the widget and the consequences. */
export function DeleteWidget({ widget: { id, name } }: { widget: WidgetRowFragment }) {
  const navigate = useNavigate();
  const notePlace = useNotePlace();
  const { run, error, sending } = useAction(DeleteWidgetDocument);
  const remove = async (): Promise<void> => {
    const isHere = notePlace();
    const { data } = await run({ input: { id } });
    if (data && isHere()) await navigate({ to: paths.widgets });
  };
  return (
    <ConfirmButton
      action="Delete widget"
      title={
        <>
          Delete widget <em>{name}</em>?
        </>
      }
      onConfirm={remove}
      sending={sending}
      error={error}
    >
      <p>
        The chat disappears from every page that embeds it. This can’t be undone. Its past costs stay in usage
        and ledger.
      </p>
    </ConfirmButton>
  );
}
