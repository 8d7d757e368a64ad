import type { PromptQuery } from '../../../generated/graphql';

/** A prompt with its newest and its active version. */
export type LoadedPrompt = NonNullable<NonNullable<PromptQuery['viewer']>['prompt']>;
