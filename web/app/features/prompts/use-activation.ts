import { ActivatePromptVersionDocument, UndoPromptActivationDocument } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { currentRevision, noteChange } from './own-changes';

/** Moves the active version, only if nobody has changed the prompt since it was shown. */
export function useActivation(prompt: { id: string; revision: number }) {
  const activation = useAction(ActivatePromptVersionDocument);
  const undoing = useAction(UndoPromptActivationDocument);
  return {
    async activate(versionId: string): Promise<boolean> {
      undoing.forget();
      const expectedRevision = currentRevision(prompt);
      const { data } = await activation.run({ input: { promptId: prompt.id, expectedRevision, versionId } });
      if (data) noteChange(data.activatePromptVersion.prompt, expectedRevision);
      return data !== undefined;
    },
    async undo(): Promise<boolean> {
      activation.forget();
      // The button names the move that it undoes, so a later move on this page must not be undone instead.
      const input = { promptId: prompt.id, expectedRevision: prompt.revision };
      const { data } = await undoing.run({ input });
      if (data) noteChange(data.undoPromptActivation.prompt, input.expectedRevision);
      return data !== undefined;
    },
    error: activation.error ?? undoing.error,
    sending: activation.sending || undoing.sending,
  };
}
