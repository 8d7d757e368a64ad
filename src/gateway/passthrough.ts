import type { IncomingHttpHeaders } from 'node:http';
import httpProxy from '@fastify/http-proxy';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorBody } from '../errors.js';
import type { Logger } from '../lib/logger.js';
import { askForBody } from './request-guard.js';
import { createTunnels } from './tunnel.js';

export interface PassthroughOptions {
  platformUrl: string;
  log: Logger;
  /** An answer of which no byte is taken for so long is cut: it holds a connection to the platform. */
  stalledReaderMs: number;
}

/** What a client says of proxies before us; only we know, so none of it passes. */
const FORWARDED = /^(?:x-forwarded-|x-real-ip$|forwarded$|via$|true-client-ip$|cf-connecting-ip$)/;
/** Needed by the platform on an upgrade: Origin to refuse foreign sites, cookie or bearer to know the caller. */
const UPGRADE_HEADERS = ['cookie', 'origin', 'sec-fetch-site', 'authorization', 'user-agent'] as const;

/**
 * These speak of one connection and end with it, in both directions: the platform keeping ours alive is nothing to
 * the client, and some of them make our own client of the platform throw. `Expect` was answered by us.
 */
const HOP_BY_HOP = /^(?:connection|keep-alive|proxy-connection|upgrade|te|trailer|expect|http2-settings)$/;

type Raw = { headers: IncomingHttpHeaders; socket: { remoteAddress?: string; encrypted?: boolean } };

function forwardedHeaders(raw: Raw, ip: string, protocol: string): Record<string, string> {
  const headers: Record<string, string> = { 'x-forwarded-for': ip, 'x-forwarded-proto': protocol };
  if (raw.headers.host) headers['x-forwarded-host'] = raw.headers.host;
  return headers;
}

function upgradeHeaders({ raw, ip, protocol }: FastifyRequest): Record<string, string> {
  const copied = UPGRADE_HEADERS.flatMap((name) => (raw.headers[name] ? [[name, raw.headers[name]]] : []));
  return { ...Object.fromEntries(copied), ...forwardedHeaders(raw, ip, protocol) };
}

/** Passes everything that isn't ours to the platform, WebSocket upgrades included. */
export async function passthrough(
  app: FastifyInstance,
  { platformUrl, log, stalledReaderMs }: PassthroughOptions,
): Promise<void> {
  // Node takes the limit back when the answer is complete, the tunnel when the upgrade is.
  app.addHook('onRequest', (request, reply, done) => {
    request.raw.socket.setTimeout(stalledReaderMs);
    askForBody(request, reply);
    done();
  });
  const tunnels = createTunnels(app, { platformUrl, log });
  app.addHook('preClose', async () => tunnels.close());
  // Fastify reads text/plain by itself; here every body passes unread, and the platform judges its type.
  app.removeAllContentTypeParsers();
  await app.register(httpProxy, {
    upstream: platformUrl,
    disableRequestLogging: true,
    preHandler: (request, reply, done) => {
      if (tunnels.wants(request)) tunnels.open(request, reply, upgradeHeaders(request));
      else done();
    },
    undici: { connections: 128, pipelining: 1, keepAliveTimeout: 4_000 },
    replyOptions: {
      // Otherwise a GET that got 503 is sent up to ten times more, which a platform in trouble needs least.
      retryDelay: () => null,
      rewriteRequestHeaders: (request, headers) => {
        const kept = Object.fromEntries(
          Object.entries(headers).filter(([name]) => !FORWARDED.test(name) && !HOP_BY_HOP.test(name)),
        );
        const { ip, protocol, raw } = request as unknown as FastifyRequest;
        return { ...kept, ...forwardedHeaders(raw, ip, protocol) };
      },
      rewriteHeaders: (headers) => {
        return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.test(name)));
      },
      onError: (reply, { error }) => {
        log.warn({ err: error }, 'the platform did not answer');
        (reply as unknown as FastifyReply).code(502).send(errorBody('platform_unavailable'));
      },
    },
  });
}
