import type { FastifyReply } from 'fastify';
import { bodyOf, type ProxyError } from '../router/answers.js';

export function sendProxyError(reply: FastifyReply, error: ProxyError): FastifyReply {
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', String(error.retryAfterSeconds));
  return reply.code(error.status).send(bodyOf(error));
}
