import { ApolloServer, type ApolloServerPlugin, HeaderMap } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import { GraphQLError, type GraphQLFormattedError, type GraphQLSchema } from 'graphql';
import type { AppError } from '../errors.js';
import type { Logger } from '../lib/logger.js';
import type { GraphqlContext } from './context.js';
import { wholeSeconds } from './errors.js';
import { statusOfFaults } from './http-status.js';
import { checkOperation, parseOptions, validationRules } from './limits.js';
import { type TakeRate, takeOperation } from './rates.js';

export interface GraphqlServerOptions {
  schema: GraphQLSchema;
  /** Whether introspection is on. */
  introspection: boolean;
  log: Logger;
  takeRate: TakeRate;
  /** Formats all errors. */
  formatError(error: GraphQLError): GraphQLFormattedError;
}

const WEBSOCKET_ONLY =
  'Subscriptions run over WebSocket: connect to the same address with the subprotocol graphql-transport-ws.';

/** What HTTP needs in addition to the rules that Apollo runs. */
const overHttp = (takeRate: TakeRate): ApolloServerPlugin<GraphqlContext> => ({
  async requestDidStart() {
    return {
      async didResolveOperation({ schema, document, operation, request, contextValue }) {
        // The execution reports the problem.
        if (!operation) return;
        if (operation.operation === 'subscription') {
          throw new GraphQLError(WEBSOCKET_ONLY, {
            extensions: {
              code: 'OPERATION_RESOLUTION_FAILURE',
              http: { status: 400, headers: new HeaderMap() },
            },
          });
        }
        const weight = checkOperation({ schema, document, operation, variables: request.variables ?? {} });
        try {
          takeOperation(takeRate, contextValue.service, weight);
        } catch (error) {
          throw refusalOf(error as AppError);
        }
      },
      async willSendResponse({ request, response }) {
        if (response.http.status !== 400 || response.body.kind !== 'single') return;
        const { errors = [] } = response.body.singleResult;
        response.http.status = statusOfFaults(errors, request.http?.headers.get('accept'));
      },
    };
  },
});

/** With REST's status and `retry-after`. */
function refusalOf(error: AppError): GraphQLError {
  const headers = new HeaderMap([
    ['retry-after', String(wholeSeconds(error.options.retryAfterSeconds ?? 1))],
  ]);
  return new GraphQLError('', {
    originalError: error,
    extensions: { http: { status: error.status, headers } },
  });
}

/** Apollo over HTTP: no batches, no queries in the URL, no contact with Apollo's services. */
export async function startGraphqlServer(
  options: GraphqlServerOptions,
): Promise<ApolloServer<GraphqlContext>> {
  const { schema, introspection, log, formatError, takeRate } = options;
  const server = new ApolloServer<GraphqlContext>({
    schema,
    validationRules: validationRules({ introspection }),
    parseOptions,
    // A rule of ours refuses it, over WebSocket as well.
    introspection: true,
    includeStacktraceInErrorResponses: false,
    csrfPrevention: true,
    allowBatchedHttpRequests: false,
    persistedQueries: false,
    stopOnTerminationSignals: false,
    logger: log,
    formatError: (_formatted, error) =>
      formatError(error instanceof GraphQLError ? error : asGraphqlError(error)),
    plugins: [
      overHttp(takeRate),
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
    ],
  });
  await server.start();
  return server;
}

const asGraphqlError = (error: unknown): GraphQLError =>
  new GraphQLError('', { originalError: error instanceof Error ? error : new Error(String(error)) });
