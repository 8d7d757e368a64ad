import { ActivatePromptVersionDocument, UndoPromptActivationDocument } from '../../../generated/graphql';
import { useAction } from '../../graphql/use-action';
import { currentRevision, noteChange } from './own-changes';

/** Activates a version, unless the prompt has changed since it was loaded. */
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
    /** @param expectedRevision the revision of the answer with this activation: a later one must not be undone instead. */
    async undo(expectedRevision: number): Promise<boolean> {
      activation.forget();
      const { data } = await undoing.run({ input: { promptId: prompt.id, expectedRevision } });
      if (data) noteChange(data.undoPromptActivation.prompt, expectedRevision);
      return data !== undefined;
    },
    error: activation.error ?? undoing.error,
    sending: activation.sending || undoing.sending,
  };
}
