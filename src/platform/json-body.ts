import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { AppError } from '../errors.js';
import { jsonAmbiguity } from '../lib/json-ambiguity.js';
import { rulesOf } from './route-guard.js';

/**
 * JSON is the only type that is parsed, and only where every reader sees the same in it (docs/decisions/0011). An empty body is none: `content-type` alone doesn't make one.
 */
export function parseJsonBodies(app: FastifyInstance): void {
  const careful = app.getDefaultJsonParser('error', 'error');
  const lenient = app.getDefaultJsonParser('ignore', 'ignore');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body.length === 0) {
      done(null, undefined);
      return;
    }
    const parse = rulesOf(request)?.anyMemberNames ? lenient : careful;
    void parse(request, body as string, (error, value) => {
      const ambiguity = error ? undefined : jsonAmbiguity(body as string);
      if (!ambiguity) done(error, value);
      else done(new AppError('invalid_body', { message: `The body is ambiguous: ${ambiguity}.` }));
    });
  });
  app.addHook('preValidation', async (request) => {
    const schema = request.routeOptions.schema?.body as z.ZodType | undefined;
    const isMissing = request.body === undefined || request.body === null;
    if (schema && isMissing && !schema.safeParse(undefined).success) {
      throw new AppError('invalid_body', { message: 'This request requires a JSON body.' });
    }
  });
}
