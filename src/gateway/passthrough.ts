import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import httpProxy from '@fastify/http-proxy';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, errorBody, errorEntry } from '../errors.js';
import type { Logger } from '../lib/logger.js';
import { isLoopback } from '../lib/network.js';
import { clientOf, type EdgeBounds } from './edge-bounds.js';
import { HeldAnswers } from './held-answers.js';
import { hasHeldBody, holdBody } from './held-body.js';
import { HeldBytes } from './held-bytes.js';
import { OwnTurns } from './own-turn.js';
import { PassLine, type Place } from './pass-line.js';
import { askForBody } from './request-guard.js';
import { acceptUpgrades } from './upgrade.js';

export interface PassthroughOptions {
  platformUrl: string;
  log: Logger;
  bounds: EdgeBounds;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose limits a request to the platform counts against. */
    client: string;
    /** Its place among the client's requests; set once it is ready for the platform. */
    place: Place;
  }
}

/** What a client says of proxies before us; only we know, so none of it passes. */
const FORWARDED = /^(?:x-forwarded-|x-real-ip$|forwarded$|via$|true-client-ip$|cf-connecting-ip$)/;
/**
 * These speak of one connection and end with it, in both directions: the platform keeping ours alive is nothing to
 * the client, and some of them make our own client of the platform throw. `Expect` was answered by us.
 */
const HOP_BY_HOP = /^(?:connection|keep-alive|proxy-connection|upgrade|te|trailer|expect|http2-settings)$/;
/** For the platform to begin its answer. */
const ANSWER_TIMEOUT_MS = 60_000;
const RETRY_AFTER_SECONDS = 1;
const TOO_MANY = 'Too many requests from this address are in progress. Try again in a moment.';
const NO_ROOM = 'Too many large requests are in progress. Try again in a moment.';
const TOO_LARGE = 'The body is larger than any that is accepted here, or comes in too many pieces.';

function forwardedHeaders({ ip, ips, protocol, raw }: FastifyRequest): Record<string, string> {
  const byProxy = isLoopback(ip) && ips !== undefined && ips.length > 1;
  const headers: Record<string, string> = {
    // One hop more says that somebody on this machine was named by a proxy, and isn't its operator at a keyboard.
    'x-forwarded-for': byProxy ? `${ip}, 127.0.0.1` : ip,
    'x-forwarded-proto': protocol,
  };
  if (raw.headers.host) headers['x-forwarded-host'] = raw.headers.host;
  return headers;
}

const endToEnd = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.test(name)));

/** Refuses a request. All but a body that is too large may be repeated a moment later. */
function refuse(request: FastifyRequest, reply: FastifyReply, code: ErrorCode, message: string): void {
  const { headers, complete } = request.raw;
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  // Otherwise the rest of the body would have to be read before the next request. Behind a whole one others may be under way.
  if (hasBody && !complete) reply.header('connection', 'close');
  if (code !== 'body_too_large') reply.header('retry-after', RETRY_AFTER_SECONDS);
  reply.code(errorEntry(code).status).header('x-request-id', request.id).send(errorBody(code, { message }));
}

/**
 * Passes everything that isn't ours to the platform, WebSocket upgrades included. All clients share a few connections, so
 * no connection waits for a client: bodies are buffered before they are passed on, answers are buffered for their reader,
 * and each client has its share.
 */
export async function passthrough(
  app: FastifyInstance,
  { platformUrl, log, bounds }: PassthroughOptions,
): Promise<void> {
  const line = new PassLine(bounds);
  const held = new HeldBytes(bounds);
  const answers = new HeldAnswers(held, bounds);
  const failed = (reply: FastifyReply, error: Error): void => {
    log.warn({ err: error }, 'the platform did not answer');
    reply.code(502).send(errorBody('platform_unavailable'));
  };
  const send = (reply: FastifyReply, body: Readable): void => {
    reply.hijack();
    reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders);
    answers.send(reply.request.client, body, reply.raw);
  };
  const upgrades = acceptUpgrades(app, {
    platformUrl,
    timeoutMs: bounds.upgradeTimeoutMs,
    forwarded: forwardedHeaders,
    granted: ({ place }) => place.leave(),
    refused: (reply, answer) =>
      send(reply.code(answer.statusCode!).headers(endToEnd(answer.headers)), answer),
    failed,
  });
  app.addHook('preClose', (done) => {
    upgrades.close();
    done();
  });
  const enter = (request: FastifyRequest, reply: FastifyReply): boolean => {
    const place = line.enter(request.client);
    if (!place) {
      refuse(request, reply, 'rate_limit_exceeded', TOO_MANY);
      return false;
    }
    request.place = place;
    reply.raw.once('close', () => place.leave());
    return true;
  };
  app.decorateRequest('client', '');
  app.decorateRequest('place', undefined as never);
  const turns = new OwnTurns(bounds);
  app.addHook('onRequest', (request, reply, done) => {
    request.client = clientOf(request.ip ?? '');
    const begin = (): void => {
      if (upgrades.asked(request)) {
        if (enter(request, reply)) upgrades.pass(request, reply);
        return;
      }
      askForBody(request.raw, reply.raw);
      done();
    };
    const waits = turns.wait(request.client, request.raw, reply.raw, begin);
    if (!waits) refuse(request, reply, 'rate_limit_exceeded', TOO_MANY);
  });
  bufferBodies(app, held);
  // Fastify reads text/plain by itself; here every body passes unread, and the platform judges its type.
  app.removeAllContentTypeParsers();
  await app.register(httpProxy, {
    upstream: platformUrl,
    disableRequestLogging: true,
    undici: {
      connections: bounds.platformConnections,
      pipelining: 1,
      keepAliveTimeout: 4_000,
      headersTimeout: ANSWER_TIMEOUT_MS,
    },
    // Its connections end with the edge; by default they would outlive it, those without any request included.
    destroyAgent: true,
    handler: (request, reply, dest, options) => {
      if (!enter(request, reply)) return;
      const { place } = request;
      place.start(() => {
        try {
          reply.from(dest, { ...options, retryDelay: onceAnswered(() => place.finish()) });
        } catch (error) {
          place.finish();
          reply.send(error);
        }
      });
    },
    replyOptions: {
      rewriteRequestHeaders: (request, headers) => {
        const kept = Object.fromEntries(
          Object.entries(headers).filter(([name]) => !FORWARDED.test(name) && !HOP_BY_HOP.test(name)),
        );
        return { ...kept, ...forwardedHeaders(request as unknown as FastifyRequest) };
      },
      rewriteHeaders: endToEnd,
      onResponse(_request, reply, { stream }) {
        if (reply.sent) stream.destroy();
        else send(reply as unknown as FastifyReply, stream);
      },
      onError: (reply, { error }) => failed(reply as unknown as FastifyReply, error),
    },
  });
}

/** Has a request's body in memory before it goes on. */
function bufferBodies(app: FastifyInstance, held: HeldBytes): void {
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (!hasHeldBody(request.raw)) {
      done(null, payload);
      return;
    }
    holdBody(request.raw, request.client, held, (body) => {
      if (body === 'too_large') refuse(request, reply, 'body_too_large', TOO_LARGE);
      else if (body === 'no_room') refuse(request, reply, 'service_unavailable', NO_ROOM);
      else done(null, body);
    });
  });
}

/**
 * Calls `free` once the connection to the platform is free. `retryDelay` is the only hook that also runs for answers whose
 * client has left. It never asks for a retry: a platform in trouble needs that least.
 */
function onceAnswered(free: () => void) {
  return (details: unknown): null => {
    const { res } = details as { res?: { stream: Readable } };
    // Without a listener, the error of an abandoned answer would be uncaught.
    if (res) res.stream.once('close', free).on('error', () => undefined);
    else free();
    return null;
  };
}
