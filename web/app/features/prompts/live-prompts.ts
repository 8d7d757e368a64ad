import { PromptChangedDocument } from '../../../generated/graphql';
import { createLiveEvents } from '../../graphql/live-events';

const prompts = createLiveEvents(PromptChangedDocument, ({ promptChanged }) => promptChanged);

/** Wraps a page with prompts; listens to their creation, change and deletion, wherever it happens. */
export const LivePrompts = prompts.Provider;

/** Calls back with each change of a prompt. */
export const usePromptChanged = prompts.useEvent;
