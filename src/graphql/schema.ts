import 'reflect-metadata';
import { createPubSub } from '@graphql-yoga/subscription';
import { GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';
import { buildSchemaSync } from 'type-graphql';
import { enforceAccess } from './access.js';
import { accountsResolvers } from './accounts/accounts.resolver.js';
import { AccountSubscriptions } from './accounts/accounts.subscriptions.js';
import { UsersResolver } from './accounts/users.resolver.js';
import { AdminResolver } from './admin/admin.resolver.js';
import { alertsResolvers } from './alerts/alerts.resolver.js';
import { AlertSubscriptions } from './alerts/alerts.subscriptions.js';
import { analyticsResolvers } from './analytics/analytics.resolver.js';
import { billingResolvers } from './billing/billing.resolver.js';
import { BillingSubscriptions } from './billing/billing.subscriptions.js';
import { ViewerOutlookResolver } from './billing/outlook.resolver.js';
import { ViewerStatementResolver } from './billing/statement.resolver.js';
import { InstallationResolver } from './installation/installation.resolver.js';
import { keysResolvers } from './keys/keys.resolver.js';
import { LeaderboardResolver } from './leaderboard/leaderboard.resolver.js';
import { ViewerLeaderboardResolver } from './leaderboard/mix.resolver.js';
import { StatusResolver } from './leaderboard/status.resolver.js';
import { MigrationResolver } from './migration/migration.resolver.js';
import { NodesResolver } from './nodes/nodes.resolver.js';
import { NodeSubscriptions } from './nodes/nodes.subscriptions.js';
import { PlaygroundResolver, ViewerPlaygroundResolver } from './playground/playground.resolver.js';
import { PlaygroundSubscriptions } from './playground/playground.subscriptions.js';
import { PromptStatsResolver, ViewerWhatIfResolver } from './prompts/prompt-stats.resolver.js';
import {
  PromptChangeResolver,
  PromptResolver,
  PromptsResolver,
  ViewerPromptsResolver,
} from './prompts/prompts.resolver.js';
import { PromptSubscriptions } from './prompts/prompts.subscriptions.js';
import { ApiKeyRefusalsResolver, ViewerRefusalsResolver } from './refusals/refusals.resolver.js';
import { ViewerWidgetsResolver, WidgetsResolver } from './widgets/widgets.resolver.js';

/** Builds the schema from every resolver of the product, each root field behind its guard. */
export function createSchema(): GraphQLSchema {
  const schema = buildSchemaSync({
    resolvers: [
      ...accountsResolvers,
      UsersResolver,
      AdminResolver,
      AccountSubscriptions,
      ViewerOutlookResolver,
      ViewerStatementResolver,
      ViewerRefusalsResolver,
      ApiKeyRefusalsResolver,
      ...alertsResolvers,
      AlertSubscriptions,
      ...analyticsResolvers,
      ...billingResolvers,
      BillingSubscriptions,
      InstallationResolver,
      ...keysResolvers,
      LeaderboardResolver,
      ViewerLeaderboardResolver,
      StatusResolver,
      MigrationResolver,
      NodesResolver,
      NodeSubscriptions,
      PromptsResolver,
      ViewerPromptsResolver,
      PromptResolver,
      PromptStatsResolver,
      ViewerWhatIfResolver,
      PromptChangeResolver,
      PromptSubscriptions,
      PlaygroundResolver,
      ViewerPlaygroundResolver,
      PlaygroundSubscriptions,
      WidgetsResolver,
      ViewerWidgetsResolver,
    ],
    // Inputs are checked by the zod schemas that REST uses as well.
    validate: false,
    // By an introspection query, a quarter of the time that the schema takes. Apollo checks it too.
    skipCheck: true,
    // type-graphql asks for one; what is live comes from the services.
    pubSub: createPubSub(),
  });
  return enforceAccess(schema);
}

/** The schema as it is committed: sorted, so that a change shows where it is. */
export const schemaText = (schema: GraphQLSchema): string =>
  `${printSchema(lexicographicSortSchema(schema))}\n`;
