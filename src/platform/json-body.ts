import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { AppError } from '../errors.js';
import { jsonAmbiguity } from '../lib/json-ambiguity.js';
import { rulesOf } from './route-guard.js';

/** Why a text was refused: malformed JSON, or members that could change inherited properties. */
function faultOf(text: string): string {
  try {
    JSON.parse(text);
  } catch {
    return 'The body is not valid JSON.';
  }
  return 'The body must not have members named __proto__, or prototype in constructor.';
}

function ambiguityOf(text: string): string | undefined {
  const ambiguity = jsonAmbiguity(text);
  return ambiguity && `The body is ambiguous: ${ambiguity}.`;
}

/**
 * Parses JSON, and nothing else, if every parser reads the same in it (docs/decisions/0011). An empty body counts as
 * absent, even with a `content-type`. `take` is called before a body is parsed, and throws if its sender has to wait.
 */
export function parseJsonBodies(
  app: FastifyInstance,
  take: (request: FastifyRequest, bytes: number) => void,
): void {
  const careful = app.getDefaultJsonParser('error', 'error');
  const lenient = app.getDefaultJsonParser('ignore', 'ignore');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (body.length === 0) {
      done(null, undefined);
      return;
    }
    try {
      take(request, body.length);
    } catch (error) {
      done(error as Error);
      return;
    }
    if (!isUtf8(body)) {
      done(new AppError('invalid_body', { message: 'The body is not valid UTF-8.' }));
      return;
    }
    const text = body.toString();
    const parse = rulesOf(request)?.anyMemberNames ? lenient : careful;
    void parse(request, text, (error, value) => {
      const fault = error ? faultOf(text) : ambiguityOf(text);
      if (fault === undefined) done(null, value);
      else done(new AppError('invalid_body', { message: fault }));
    });
  });
  app.addHook('preValidation', async (request) => {
    const schema = request.routeOptions.schema?.body as z.ZodType | undefined;
    if (schema && request.body === undefined && !schema.safeParse(undefined).success) {
      throw new AppError('invalid_body', { message: 'This request requires a JSON body.' });
    }
  });
}
