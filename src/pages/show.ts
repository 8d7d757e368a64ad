import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HeaderClass } from '../lib/security-headers.js';
import type { RestApp } from '../rest/rest-app.js';
import { type RouteConfig, shows } from '../rest/route-rules.js';

type Handler = (
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<FastifyReply | undefined> | FastifyReply | undefined;

/** Serves a public page or file at a URL that the API reference leaves out. */
export function show(app: RestApp, url: string, rules: HeaderClass | RouteConfig, handler: Handler): void {
  const config = typeof rules === 'string' ? shows(rules) : rules;
  app.route({ method: 'GET', url, config, schema: { hide: true }, handler });
}
