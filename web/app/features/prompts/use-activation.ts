import { ActivatePromptVersionDocument, UndoPromptActivationDocument } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';

/** Moves the active version, only if nobody has changed the prompt since it was shown. */
export function useActivation({ id, revision }: { id: string; revision: number }) {
  const activation = useAction(ActivatePromptVersionDocument);
  const undoing = useAction(UndoPromptActivationDocument);
  const expected = { promptId: id, expectedRevision: revision };
  return {
    async activate(versionId: string): Promise<boolean> {
      undoing.forget();
      return (await activation.run({ input: { ...expected, versionId } })).data !== undefined;
    },
    async undo(): Promise<boolean> {
      activation.forget();
      return (await undoing.run({ input: expected })).data !== undefined;
    },
    error: activation.error ?? undoing.error,
    sending: activation.sending || undoing.sending,
  };
}
