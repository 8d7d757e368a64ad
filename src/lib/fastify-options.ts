import { type FastifyServerOptions, LogController } from 'fastify';
import type { Logger } from './logger.js';

/** Fastify's options for a logger of ours: no line per request. */
export function fastifyLogger(
  logger: Logger,
): Pick<FastifyServerOptions, 'loggerInstance' | 'logController'> {
  return {
    loggerInstance: logger as never,
    logController: new LogController({ disableRequestLogging: true }),
  };
}

const noCompiler = (): never => {
  throw new Error('no route here has a JSON Schema: zod checks what comes in');
};

/**
 * For a server whose routes have no JSON Schemas, or compilers of its own for them. Fastify would load Ajv and its serializer
 * all the same, a twentieth of a process's start.
 */
export const NO_JSON_SCHEMAS: Pick<FastifyServerOptions, 'schemaController'> = {
  schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
};
