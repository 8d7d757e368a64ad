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
      'Changes of the account once they are committed: balance, plan, keys, and rejected calls. Changes in quick succession arrive as one event. For the cost of calls, use `usageRecorded`. Requires a session.',
    subscribe: ({ context }: { context: GraphqlContext }) =>
      context.services.accountFeed.accountChanged(context.service),
  })
  accountChanged(@Root() change: AccountChangeOutput): AccountChange {
    return camelCased(change);
  }
}
