import { type FastifyServerOptions, LogController } from 'fastify';
import type { Logger } from './logger.js';

/** Fastify's options for our logger, without a line per request. */
export function fastifyLogger(
  logger: Logger,
): Pick<FastifyServerOptions, 'loggerInstance' | 'logController'> {
  return {
    loggerInstance: logger as never,
    logController: new LogController({ disableRequestLogging: true }),
  };
}

const noCompiler = (): never => {
  throw new Error('routes must not have JSON Schemas; zod checks inputs');
};

/**
 * For a server whose routes have no JSON Schemas, or that has compilers of its own. Otherwise Fastify would load Ajv and its
 * serializer, a twentieth of a process's start.
 */
export const NO_JSON_SCHEMAS: Pick<FastifyServerOptions, 'schemaController'> = {
  schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
};
