import 'reflect-metadata';
import { createPubSub } from '@graphql-yoga/subscription';
import { GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';
import { buildSchemaSync } from 'type-graphql';
import { enforceAccess } from './access.js';
import { AccountResolver, AccountsResolver } from './accounts/accounts.resolver.js';
import { UsersResolver } from './accounts/users.resolver.js';
import {
  AlertEventResolver,
  AlertsResolver,
  ApiKeyAlertsResolver,
  ViewerAlertsResolver,
} from './alerts/alerts.resolver.js';
import { AlertSubscriptions } from './alerts/alerts.subscriptions.js';
import { ApiKeyAnalyticsResolver, ViewerAnalyticsResolver } from './analytics/analytics.resolver.js';
import {
  BillingResolver,
  LedgerEntryConnectionResolver,
  LedgerEntryResolver,
  TopUpPayloadResolver,
  UsageEventConnectionResolver,
  UsageEventResolver,
  ViewerBillingResolver,
} from './billing/billing.resolver.js';
import { BillingSubscriptions } from './billing/billing.subscriptions.js';
import { InstallationResolver } from './installation/installation.resolver.js';
import {
  ApiKeyConnectionResolver,
  ApiKeyResolver,
  KeysResolver,
  ViewerKeysResolver,
} from './keys/keys.resolver.js';
import { PlaygroundResolver, ViewerPlaygroundResolver } from './playground/playground.resolver.js';
import { PlaygroundSubscriptions } from './playground/playground.subscriptions.js';

/** Builds the schema from every resolver of the product, each root field behind its guard. */
export function createSchema(): GraphQLSchema {
  const schema = buildSchemaSync({
    resolvers: [
      AccountsResolver,
      AccountResolver,
      UsersResolver,
      BillingResolver,
      TopUpPayloadResolver,
      ViewerBillingResolver,
      UsageEventConnectionResolver,
      LedgerEntryConnectionResolver,
      UsageEventResolver,
      LedgerEntryResolver,
      BillingSubscriptions,
      KeysResolver,
      ViewerKeysResolver,
      ApiKeyConnectionResolver,
      ApiKeyResolver,
      ViewerAnalyticsResolver,
      ApiKeyAnalyticsResolver,
      InstallationResolver,
      AlertsResolver,
      ViewerAlertsResolver,
      ApiKeyAlertsResolver,
      AlertEventResolver,
      AlertSubscriptions,
      PlaygroundResolver,
      ViewerPlaygroundResolver,
      PlaygroundSubscriptions,
    ],
    // Inputs are checked by the zod schemas that REST uses as well.
    validate: false,
    // type-graphql asks for one; what is live comes from the services.
    pubSub: createPubSub(),
  });
  return enforceAccess(schema);
}

/** The schema as it is committed: sorted, so that a change shows where it is. */
export const schemaText = (schema: GraphQLSchema): string =>
  `${printSchema(lexicographicSortSchema(schema))}\n`;
