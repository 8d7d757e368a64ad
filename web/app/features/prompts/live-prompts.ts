import { PromptChangedDocument } from '../../../generated/graphql';
import { createLiveEvents } from '../../graphql/live-events';

const prompts = createLiveEvents(PromptChangedDocument, ({ promptChanged }) => promptChanged);

/** Around a page with prompts: hears of each one that is made, changed or deleted, wherever that happens. */
export const LivePrompts = prompts.Provider;

/** Calls back with each change of a prompt. */
export const usePromptChanged = prompts.useEvent;
