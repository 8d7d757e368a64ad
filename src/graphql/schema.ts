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

/** Builds the schema from all resolvers, with a guard on each root field. */
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
    // The zod schemas that REST uses check inputs.
    validate: false,
    // The check runs an introspection query and takes a quarter of the schema's build time. Apollo checks it too.
    skipCheck: true,
    // type-graphql requires one; live events come from the services.
    pubSub: createPubSub(),
  });
  return enforceAccess(schema);
}

/** The schema as it is committed: sorted, so that changes are easy to see. */
export const schemaText = (schema: GraphQLSchema): string =>
  `${printSchema(lexicographicSortSchema(schema))}\n`;
