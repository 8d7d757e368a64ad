import { Arg, Args, Ctx, FieldResolver, Mutation, Resolver, Root } from 'type-graphql';
import {
  createAlertInput,
  lowBalanceInput,
  timeConnectionInput,
  updateAlertInput,
} from '../../services/alerts/alerts.inputs.js';
import { lowBalanceOutput } from '../../services/alerts/alerts.outputs.js';
import { Allow } from '../access.js';
import { Viewer } from '../accounts/accounts.types.js';
import { camelCased } from '../case.js';
import { type Connection, PageArgs, pageCost, toConnection } from '../connections.js';
import type { GraphqlContext } from '../context.js';
import { checked } from '../input.js';
import { ApiKey } from '../keys/keys.types.js';
import { Decimal } from '../scalars.js';
import { descriptionOf } from '../zod-fields.js';
import {
  CreateAlertSubscriptionInput,
  DeleteAlertSubscriptionInput,
  RedeliverAlertEventInput,
  RotateAlertSecretInput,
  SendTestAlertInput,
  SetLowBalanceAlertInput,
  UpdateAlertSubscriptionInput,
} from './alerts.args.js';
import {
  AlertEvent,
  AlertEventConnection,
  AlertSubscription,
  CreateAlertSubscriptionPayload,
  DeleteAlertSubscriptionPayload,
  RedeliverAlertEventPayload,
  RotateAlertSecretPayload,
  SendTestAlertPayload,
  SetLowBalanceAlertPayload,
  UpdateAlertSubscriptionPayload,
} from './alerts.types.js';

/** Maximum number of subscriptions per key. */
const alertsCost = ({ childComplexity }: { childComplexity: number }): number => 1 + 10 * childComplexity;

/** What is done with alerts. */
@Resolver()
class AlertsResolver {
  @Allow('session')
  @Mutation(() => CreateAlertSubscriptionPayload, {
    description:
      'Creates an alert subscription for an API key. For a webhook, the response contains the signing secret, which is shown only once. At most 10 subscriptions per key.',
  })
  async createAlertSubscription(
    @Arg('input', { description: 'The subscription.' }) { keyId, ...input }: CreateAlertSubscriptionInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<CreateAlertSubscriptionPayload> {
    const { signing_secret: signingSecret, ...alert } = await services.alerts.create(service, {
      ...checked(createAlertInput, input),
      keyId,
    });
    return { alertSubscription: camelCased(alert), signingSecret };
  }

  @Allow('session')
  @Mutation(() => UpdateAlertSubscriptionPayload, {
    description: "Updates an alert subscription. Alerts that have already fired this month don't fire again.",
  })
  async updateAlertSubscription(
    @Arg('input', { description: 'Subscription and changes.' })
    { keyId, id, ...input }: UpdateAlertSubscriptionInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<UpdateAlertSubscriptionPayload> {
    const change = { ...checked(updateAlertInput, input), keyId, alertId: id };
    return { alertSubscription: camelCased(await services.alerts.update(service, change)) };
  }

  @Allow('session')
  @Mutation(() => DeleteAlertSubscriptionPayload, {
    description: 'Deletes an alert subscription. Its events are kept.',
  })
  async deleteAlertSubscription(
    @Arg('input', { description: 'The subscription.' }) { keyId, id }: DeleteAlertSubscriptionInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<DeleteAlertSubscriptionPayload> {
    await services.alerts.remove(service, { keyId, alertId: id });
    return { deletedAlertSubscriptionId: id };
  }

  @Allow('session')
  @Mutation(() => SendTestAlertPayload, {
    description:
      'Sends a test alert to the destination. At most 5 tests and redeliveries per minute, and 10 per day by email.',
  })
  async sendTestAlert(
    @Arg('input', { description: 'The subscription.' }) { keyId, id }: SendTestAlertInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<SendTestAlertPayload> {
    return { alertEvent: camelCased(await services.alerts.sendTest(service, { keyId, alertId: id })) };
  }

  @Allow('session')
  @Mutation(() => RedeliverAlertEventPayload, {
    description:
      'Redelivers an alert event to the current destination of its subscription, with the same ID and up to three new attempts. A pending event is left unchanged.',
  })
  async redeliverAlertEvent(
    @Arg('input', { description: 'The event.' }) { eventId }: RedeliverAlertEventInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<RedeliverAlertEventPayload> {
    return { alertEvent: camelCased(await services.alerts.redeliver(service, { eventId })) };
  }

  @Allow('session')
  @Mutation(() => RotateAlertSecretPayload, {
    description:
      'Rotates the signing secret of a webhook. Until the next rotation, deliveries are also signed with the previous secret.',
  })
  async rotateAlertSecret(
    @Arg('input', { description: 'The subscription.' }) { keyId, id }: RotateAlertSecretInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<RotateAlertSecretPayload> {
    return camelCased(await services.alerts.rotateSecret(service, { keyId, alertId: id }));
  }

  @Allow('session')
  @Mutation(() => SetLowBalanceAlertPayload, {
    description:
      'Sets the low-balance threshold. One email is sent when the balance falls below it, and another only after the balance has recovered. Null turns the alert off.',
  })
  async setLowBalanceAlert(
    @Arg('input', { description: 'The new threshold.' }) input: SetLowBalanceAlertInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<SetLowBalanceAlertPayload> {
    return camelCased(await services.alerts.setLowBalance(service, checked(lowBalanceInput, input)));
  }
}

/** Alerts of the one who is signed in. */
@Resolver(() => Viewer)
class ViewerAlertsResolver {
  @FieldResolver(() => AlertEventConnection, {
    description: 'Alert events and tests for all API keys, including deleted ones, and for the balance.',
    complexity: pageCost,
  })
  async alertEvents(
    @Args() args: PageArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<Connection<AlertEvent>> {
    const page = await services.alerts.eventsPage(service, checked(timeConnectionInput, args));
    return toConnection(page, args, camelCased);
  }

  @FieldResolver(() => Decimal, {
    nullable: true,
    description: descriptionOf(lowBalanceOutput.shape.threshold_usd),
  })
  async lowBalanceThresholdUsd(@Ctx() { services, service }: GraphqlContext): Promise<string | null> {
    return (await services.alerts.lowBalance(service)).threshold_usd;
  }
}

/** Alerts of an API key. */
@Resolver(() => ApiKey)
class ApiKeyAlertsResolver {
  @FieldResolver(() => [AlertSubscription], {
    description: 'Alert subscriptions of the key, newest first.',
    complexity: alertsCost,
  })
  alerts(@Root() { id }: ApiKey, @Ctx() { loaders }: GraphqlContext): Promise<AlertSubscription[]> {
    return loaders.alertsOfKeys.load(id);
  }

  @FieldResolver(() => AlertEventConnection, {
    description: 'Alert events and tests of the key.',
    complexity: pageCost,
  })
  async alertEvents(
    @Root() { id }: ApiKey,
    @Args() args: PageArgs,
    @Ctx() { loaders }: GraphqlContext,
  ): Promise<Connection<AlertEvent>> {
    const page = checked(timeConnectionInput, args);
    return toConnection(await loaders.alertEventsOfKeys.load({ keyId: id, page }), args, camelCased);
  }
}

/** Fields of an alert event that need a query. */
@Resolver(() => AlertEvent)
class AlertEventResolver {
  @FieldResolver(() => ApiKey, { nullable: true, description: 'The API key, or null if it was deleted.' })
  async apiKey(@Root() { keyId }: AlertEvent, @Ctx() { loaders }: GraphqlContext): Promise<ApiKey | null> {
    return keyId === null ? null : loaders.keys.load(keyId);
  }
}

/** Every resolver of the domain. */
export const alertsResolvers = [
  AlertsResolver,
  ViewerAlertsResolver,
  ApiKeyAlertsResolver,
  AlertEventResolver,
] as const;
