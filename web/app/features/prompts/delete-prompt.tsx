import { DeletePromptDocument, type PromptRowFragment } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { ConfirmButton } from '../../ui/confirm-dialog';
import { useNotePlace } from '../../ui/use-is-here';

interface DeletePromptProps {
  prompt: PromptRowFragment;
  /** Called if the prompt's page is still shown. */
  onDeleted(): void;
}

/** Deletes a prompt after a confirmation, which names the prompt and the consequences. */
export function DeletePrompt({ prompt: { id, name, slug, versionCount }, onDeleted }: DeletePromptProps) {
  const { run, error, sending } = useAction(DeletePromptDocument);
  const notePlace = useNotePlace();
  const remove = async (): Promise<void> => {
    const isHere = notePlace();
    const { data } = await run({ input: { id } });
    if (data && isHere()) onDeleted();
  };
  return (
    <ConfirmButton
      action="Delete prompt"
      title={
        <>
          Delete prompt <em>{name}</em>?
        </>
      }
      onConfirm={remove}
      sending={sending}
      error={error}
    >
      <p>
        This deletes {versionCount === 1 ? 'its version' : `all ${versionCount} versions`} permanently.
        Programs that render <code>{slug}</code> will get 404 immediately. Widgets that use it go back to
        their own system prompt.
      </p>
    </ConfirmButton>
  );
}
