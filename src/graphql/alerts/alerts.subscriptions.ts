import { Resolver, Root, Subscription } from 'type-graphql';
import type { AlertEventOutput } from '../../services/alerts/alerts.outputs.js';
import { Allow } from '../access.js';
import { camelCased } from '../case.js';
import type { GraphqlContext } from '../context.js';
import { AlertEvent } from './alerts.types.js';

/** Live alerts. */
@Resolver()
export class AlertSubscriptions {
  @Allow('session')
  @Subscription(() => AlertEvent, {
    description:
      'New alerts of the account as they fire, one per destination, exactly once and before delivery. Tests are not included. Requires a session.',
    subscribe: ({ context }: { context: GraphqlContext }) =>
      context.services.alertFeed.alertFired(context.service),
  })
  alertFired(@Root() event: AlertEventOutput): AlertEvent {
    return camelCased(event);
  }
}
