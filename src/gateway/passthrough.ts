import type { IncomingHttpHeaders } from 'node:http';
import httpProxy from '@fastify/http-proxy';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorBody } from '../errors.js';
import type { Logger } from '../lib/logger.js';
import { askForBody } from './request-guard.js';
import { acceptUpgrades } from './upgrade.js';

export interface PassthroughOptions {
  platformUrl: string;
  log: Logger;
  /** An answer of which no byte is taken for so long is cut: it holds a connection to the platform. */
  stalledReaderMs: number;
}

/** What a client says of proxies before us; only we know, so none of it passes. */
const FORWARDED = /^(?:x-forwarded-|x-real-ip$|forwarded$|via$|true-client-ip$|cf-connecting-ip$)/;
/**
 * These speak of one connection and end with it, in both directions: the platform keeping ours alive is nothing to
 * the client, and some of them make our own client of the platform throw. `Expect` was answered by us.
 */
const HOP_BY_HOP = /^(?:connection|keep-alive|proxy-connection|upgrade|te|trailer|expect|http2-settings)$/;

function forwardedHeaders({ ip, protocol, raw }: FastifyRequest): Record<string, string> {
  const headers: Record<string, string> = { 'x-forwarded-for': ip, 'x-forwarded-proto': protocol };
  if (raw.headers.host) headers['x-forwarded-host'] = raw.headers.host;
  return headers;
}

const endToEnd = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.test(name)));

/** Passes everything that isn't ours to the platform, WebSocket upgrades included. */
export async function passthrough(
  app: FastifyInstance,
  { platformUrl, log, stalledReaderMs }: PassthroughOptions,
): Promise<void> {
  const failed = (reply: FastifyReply, error: Error): void => {
    log.warn({ err: error }, 'the platform did not answer');
    reply.code(502).send(errorBody('platform_unavailable'));
  };
  const upgrades = acceptUpgrades(app, { platformUrl, forwarded: forwardedHeaders, endToEnd, failed });
  app.addHook('preClose', (done) => {
    upgrades.close();
    done();
  });
  app.addHook('onRequest', (request, reply, done) => {
    if (upgrades.pass(request, reply)) return;
    // Node takes the limit back when the answer is complete.
    request.raw.socket.setTimeout(stalledReaderMs);
    askForBody(request.raw, reply.raw);
    done();
  });
  // Fastify reads text/plain by itself; here every body passes unread, and the platform judges its type.
  app.removeAllContentTypeParsers();
  await app.register(httpProxy, {
    upstream: platformUrl,
    disableRequestLogging: true,
    undici: { connections: 128, pipelining: 1, keepAliveTimeout: 4_000 },
    // Its connections end with the edge; by default they would outlive it, those without any request included.
    destroyAgent: true,
    replyOptions: {
      // Otherwise a GET that got 503 is sent up to ten times more, which a platform in trouble needs least.
      retryDelay: () => null,
      rewriteRequestHeaders: (request, headers) => {
        const kept = Object.fromEntries(
          Object.entries(headers).filter(([name]) => !FORWARDED.test(name) && !HOP_BY_HOP.test(name)),
        );
        return { ...kept, ...forwardedHeaders(request as unknown as FastifyRequest) };
      },
      rewriteHeaders: endToEnd,
      onError: (reply, { error }) => failed(reply as unknown as FastifyReply, error),
    },
  });
}
