import 'reflect-metadata';
import { createPubSub } from '@graphql-yoga/subscription';
import { GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';
import { buildSchemaSync } from 'type-graphql';
import { enforceAccess } from './access.js';
import { accountsResolvers } from './accounts/accounts.resolver.js';
import { usersResolvers } from './accounts/users.resolver.js';
import { adminResolvers } from './admin/admin.resolver.js';
import { alertsResolvers } from './alerts/alerts.resolver.js';
import { analyticsResolvers } from './analytics/analytics.resolver.js';
import { billingResolvers } from './billing/billing.resolver.js';
import { statementResolvers } from './billing/statement.resolver.js';
import { installationResolvers } from './installation/installation.resolver.js';
import { keysResolvers } from './keys/keys.resolver.js';
import { leaderboardResolvers } from './leaderboard/leaderboard.resolver.js';
import { mixResolvers } from './leaderboard/mix.resolver.js';
import { statusResolvers } from './leaderboard/status.resolver.js';
import { migrationResolvers } from './migration/migration.resolver.js';
import { nodesResolvers } from './nodes/nodes.resolver.js';
import { playgroundResolvers } from './playground/playground.resolver.js';
import { promptStatsResolvers } from './prompts/prompt-stats.resolver.js';
import { promptsResolvers } from './prompts/prompts.resolver.js';
import { refusalsResolvers } from './refusals/refusals.resolver.js';
import { widgetsResolvers } from './widgets/widgets.resolver.js';

/** Builds the schema from every resolver of the product, each root field behind its guard. */
export function createSchema(): GraphQLSchema {
  const schema = buildSchemaSync({
    resolvers: [
      ...accountsResolvers,
      ...usersResolvers,
      ...adminResolvers,
      ...alertsResolvers,
      ...analyticsResolvers,
      ...billingResolvers,
      ...statementResolvers,
      ...installationResolvers,
      ...keysResolvers,
      ...leaderboardResolvers,
      ...mixResolvers,
      ...statusResolvers,
      ...migrationResolvers,
      ...nodesResolvers,
      ...playgroundResolvers,
      ...promptStatsResolvers,
      ...promptsResolvers,
      ...refusalsResolvers,
      ...widgetsResolvers,
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
