import type { FastifyInstance } from 'fastify';
import { AppError } from '../errors.js';

/** JSON is the only type that is parsed. An empty body is none: `content-type` alone doesn't make one. */
export function parseJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body.length === 0) done(null, undefined);
    else void parse(request, body as string, done);
  });
  app.addHook('preValidation', async (request) => {
    if (request.routeOptions.schema?.body && (request.body === undefined || request.body === null)) {
      throw new AppError('invalid_body', { message: 'This request needs a JSON body.' });
    }
  });
}
