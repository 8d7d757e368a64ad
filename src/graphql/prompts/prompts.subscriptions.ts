import { Resolver, Root, Subscription } from 'type-graphql';
import type { PromptNews } from '../../services/live/prompt-feed.js';
import { Allow } from '../access.js';
import type { GraphqlContext } from '../context.js';
import { PromptChange } from './prompts.types.js';

/** Live changes of prompts. */
@Resolver()
export class PromptSubscriptions {
  @Allow('session')
  @Subscription(() => PromptChange, {
    description:
      'Sends each prompt of the account that is created, changed or deleted from now on, once the change is committed. Changes in quick succession are merged into one event. Requires a session.',
    subscribe: ({ context }: { context: GraphqlContext }) =>
      context.services.promptFeed.promptChanged(context.service),
  })
  promptChanged(@Root() news: PromptNews): PromptChange {
    return news;
  }
}
