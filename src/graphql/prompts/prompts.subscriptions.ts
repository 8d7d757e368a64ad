import { Resolver, Root, Subscription } from 'type-graphql';
import type { PromptNews } from '../../services/live/prompt-feed.js';
import { Allow } from '../access.js';
import type { GraphqlContext } from '../context.js';
import { PromptChange } from './prompts.types.js';

/** What is told of prompts while it happens. */
@Resolver()
export class PromptSubscriptions {
  @Allow('session')
  @Subscription(() => PromptChange, {
    description:
      'Each prompt of the account that was made, changed or deleted, once that is committed, from now on. Changes that come close together are told as one. Needs a session.',
    subscribe: ({ context }: { context: GraphqlContext }) =>
      context.services.promptFeed.promptChanged(context.service),
  })
  promptChanged(@Root() news: PromptNews): PromptChange {
    return news;
  }
}
