import { RotateWidgetKeyDocument, type WidgetRowFragment } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { ConfirmButton } from '../../ui/confirm-dialog';

/** Rotates the key after a confirmation, since it breaks pages with the old key. */
export function RotateKey({ widget: { id, name } }: { widget: WidgetRowFragment }) {
  const { run, error, sending } = useAction(RotateWidgetKeyDocument);
  const rotate = async (close: () => void): Promise<void> => {
    const { data } = await run({ input: { id } });
    if (data) close();
  };
  return (
    <ConfirmButton
      action="Rotate key"
      title={
        <>
          Rotate the key of <em>{name}</em>?
        </>
      }
      onConfirm={rotate}
      sending={sending}
      error={error}
    >
      <p>The chat stops immediately on every page with the old key, until you replace the script tag.</p>
    </ConfirmButton>
  );
}
