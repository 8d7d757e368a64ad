import type { FastifyReply, FastifyRequest } from 'fastify';
import { isKnown, weakEtag } from '../lib/etag.js';
import { noContent } from './error-responses.js';

const CACHE = 'public, max-age=300';

/** Response of a route with cacheable responses. */
export const NOT_MODIFIED = noContent('Not modified since the `ETag` in `If-None-Match`.');

/** Allows caches to keep a public response for five minutes, and answers 304 if the caller has it. */
export function cacheable<T extends object>(
  request: Pick<FastifyRequest, 'headers'>,
  reply: FastifyReply,
  answer: T,
): T | undefined {
  const etag = weakEtag(JSON.stringify(answer));
  reply.header('cache-control', CACHE).header('etag', etag);
  if (!isKnown(request.headers['if-none-match'], etag)) return answer;
  reply.code(304);
  return undefined;
}
