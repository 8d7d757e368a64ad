import { Resolver, Root, Subscription } from 'type-graphql';
import type { AccountChangeOutput } from '../../services/live/account-feed.outputs.js';
import { Allow } from '../access.js';
import { camelCased } from '../case.js';
import type { GraphqlContext } from '../context.js';
import { AccountChange } from './account-change.types.js';

/** What is told of an account while it happens. */
@Resolver()
export class AccountSubscriptions {
  @Allow('session')
  @Subscription(() => AccountChange, {
    description:
      'What changes of the account, once it is committed: balance, plan and keys, and that calls were refused. Changes that follow each other closely come as one event. What calls cost is told by `usageRecorded`. Needs a session.',
    subscribe: ({ context }: { context: GraphqlContext }) =>
      context.services.accountFeed.accountChanged(context.service),
  })
  accountChanged(@Root() change: AccountChangeOutput): AccountChange {
    return camelCased(change);
  }
}
