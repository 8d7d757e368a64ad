import type { IncomingHttpHeaders } from 'node:http';
import httpProxy from '@fastify/http-proxy';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorBody } from '../errors.js';
import type { Logger } from '../lib/logger.js';

export interface PassthroughOptions {
  platformUrl: string;
  log: Logger;
}

/** What a client says of proxies before us; only we know, so none of it passes. */
const FORWARDED = /^(?:x-forwarded-|x-real-ip$|forwarded$|via$|true-client-ip$|cf-connecting-ip$)/;
/** Needed by the platform on an upgrade: Origin to refuse foreign sites, cookie or bearer to know the caller. */
const UPGRADE_HEADERS = ['cookie', 'origin', 'authorization', 'user-agent'] as const;

type Raw = { headers: IncomingHttpHeaders; socket: { remoteAddress?: string; encrypted?: boolean } };

function forwardedHeaders(raw: Raw, ip: string, protocol: string): Record<string, string> {
  const headers: Record<string, string> = { 'x-forwarded-for': ip, 'x-forwarded-proto': protocol };
  if (raw.headers.host) headers['x-forwarded-host'] = raw.headers.host;
  return headers;
}

/** Passes everything that isn't ours to the platform, WebSocket upgrades included. */
export async function passthrough(
  app: FastifyInstance,
  { platformUrl, log }: PassthroughOptions,
): Promise<void> {
  await app.register(httpProxy, {
    upstream: platformUrl,
    websocket: true,
    disableRequestLogging: true,
    undici: { connections: 128, pipelining: 1, keepAliveTimeout: 4_000 },
    replyOptions: {
      rewriteRequestHeaders: (request, headers) => {
        const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !FORWARDED.test(name)));
        const { ip, protocol, raw } = request as unknown as FastifyRequest;
        return { ...kept, ...forwardedHeaders(raw, ip, protocol) };
      },
      onError: (reply, { error }) => {
        log.warn({ err: error }, 'the platform did not answer');
        (reply as unknown as FastifyReply).code(502).send(errorBody('platform_unavailable'));
      },
    },
    wsClientOptions: {
      // The arguments stand the other way round here.
      rewriteRequestHeaders: (headers: IncomingHttpHeaders, request: unknown) => {
        const { ip, protocol, raw } = request as FastifyRequest;
        const copied = UPGRADE_HEADERS.flatMap((name) =>
          raw.headers[name] ? [[name, raw.headers[name]]] : [],
        );
        return { ...headers, ...Object.fromEntries(copied), ...forwardedHeaders(raw, ip, protocol) };
      },
    } as never,
  });
}
