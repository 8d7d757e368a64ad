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

/** A key has at most so many subscriptions. */
const alertsCost = ({ childComplexity }: { childComplexity: number }): number => 1 + 10 * childComplexity;

/** What is done with alerts. */
@Resolver()
export class AlertsResolver {
  @Allow('session')
  @Mutation(() => CreateAlertSubscriptionPayload, {
    description:
      'Subscribes to alerts of an API key. The signing secret of a webhook is in this answer and can not be shown again. At most 10 per key.',
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
    description: 'Changes an alert subscription. What has fired this month is not told again.',
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
    description: 'Deletes an alert subscription. Its events stay on record.',
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
      'Delivers a test to where a subscription leads. At most 5 tests and repetitions per minute, 10 per day by mail.',
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
      'Delivers an event once more: the same id, up to three new attempts, to where its subscription leads now. One that is pending stays as it is.',
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
      'Changes the signing secret of a webhook. Deliveries carry a signature by the one before as well until the next change.',
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
      'Sets the balance below which a mail comes, once until a credit lifts the balance again. Null: none comes.',
  })
  async setLowBalanceAlert(
    @Arg('input', { description: 'The threshold.' }) input: SetLowBalanceAlertInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<SetLowBalanceAlertPayload> {
    return camelCased(await services.alerts.setLowBalance(service, checked(lowBalanceInput, input)));
  }
}

/** Alerts of the one who is signed in. */
@Resolver(() => Viewer)
export class ViewerAlertsResolver {
  @FieldResolver(() => AlertEventConnection, {
    description: 'What fired and was tested: of all keys, deleted ones included, and of the balance.',
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
export class ApiKeyAlertsResolver {
  @FieldResolver(() => [AlertSubscription], {
    description: 'Who is told of its spend, newest first.',
    complexity: alertsCost,
  })
  alerts(@Root() { id }: ApiKey, @Ctx() { loaders }: GraphqlContext): Promise<AlertSubscription[]> {
    return loaders.alertsOfKeys.load(id);
  }

  @FieldResolver(() => AlertEventConnection, {
    description: 'What fired and was tested.',
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

/** What hangs on an alert event. */
@Resolver(() => AlertEvent)
export class AlertEventResolver {
  @FieldResolver(() => ApiKey, { nullable: true, description: 'The API key, unless it is deleted.' })
  async apiKey(@Root() { keyId }: AlertEvent, @Ctx() { loaders }: GraphqlContext): Promise<ApiKey | null> {
    return keyId === null ? null : loaders.keys.load(keyId);
  }
}
