import { Resolver, Root, Subscription } from 'type-graphql';
import type { UsageItemOutput } from '../../services/billing/billing.outputs.js';
import { Allow } from '../access.js';
import { camelCased } from '../case.js';
import type { GraphqlContext } from '../context.js';
import { UsageEvent } from './billing.types.js';

/** Live usage events. */
@Resolver()
export class BillingSubscriptions {
  @Allow('session')
  @Subscription(() => UsageEvent, {
    description:
      'New usage events of the account as they are charged, each exactly once. Requires a session.',
    subscribe: ({ context }: { context: GraphqlContext }) =>
      context.services.usageFeed.usageRecorded(context.service),
  })
  usageRecorded(@Root() event: UsageItemOutput): UsageEvent {
    return camelCased(event);
  }
}
