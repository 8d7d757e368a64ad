import type { OutgoingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Dispatcher, errors, Pool } from 'undici';
import { type ErrorCode, errorBody, errorEntry } from '../../errors.js';
import { MemoryPool } from '../../lib/fair/memory-pool.js';
import { MAX_HEADER_BYTES } from '../../lib/http-limits.js';
import type { Logger } from '../../lib/logger.js';
import { networksOf } from '../../lib/network.js';
import { createOutageLog } from '../../lib/outage-log.js';
import type { Tracing } from '../../lib/tracing/tracing.js';
import { patientConnector } from '../../lib/upstream/patient-connector.js';
import { askForBody } from '../request-guard.js';
import { clientOf, type ResourceLimits } from '../resource-limits.js';
import { edgeRules } from '../route-rules.js';
import { PipelineQueue } from './pipeline-queue.js';
import { forwardedHeaders, requestHeaders, responseHeaders } from './platform-headers.js';
import { PlatformQueue, type Ticket } from './platform-queue.js';
import { bufferRequest, hasBody, MAX_BUFFERED_BYTES, NETWORK_PART } from './request-buffering.js';
import { ResponseBuffering } from './response-buffering.js';
import { acceptUpgrades } from './upgrade.js';
import type { PlatformAnswer } from './upgrade-handler.js';

export interface PassthroughOptions {
  /** Platforms that share one database. They differ in host and port only. */
  platformUrls: readonly string[];
  log: Logger;
  bounds: ResourceLimits;
  tracing: Tracing | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The client whose limits the request counts against. */
    client: string;
    /** Set when the request is admitted to the queue for the platform. */
    ticket: Ticket;
  }
}

/** Methods that are forwarded to the platform. All others return 404, as they do there. */
const METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'];
/** undici accepts higher status codes, but Node refuses to send them. */
const MAX_STATUS = 599;
/** Time for the platform to begin its answer. */
const ANSWER_TIMEOUT_MS = 60_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** How long a request waits for a platform that refuses connections: it restarts. */
const PATIENCE_MS = 3_000;
const RETRY_AFTER_SECONDS = 1;
const TOO_MANY = 'Too many requests from this address are in progress. Try again in a moment.';
const NO_ROOM = 'Too many large requests are in progress. Try again in a moment.';
const TOO_LARGE = `The body is larger than ${MAX_BUFFERED_BYTES / 1024} KiB, or arrives in too many pieces.`;

/** Refuses a request. The client may retry a moment later unless the body is too large. */
function refuse(request: FastifyRequest, reply: FastifyReply, code: ErrorCode, message: string): void {
  const { headers, complete } = request.raw;
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  // Otherwise the rest of the body would have to be read first. After a complete body, the connection stays open for later requests.
  if (hasBody && !complete) reply.header('connection', 'close');
  if (code !== 'body_too_large') reply.header('retry-after', RETRY_AFTER_SECONDS);
  reply.code(errorEntry(code).status).header('x-request-id', request.id).send(errorBody(code, { message }));
}

/** An outage of the platform is logged in two lines, since anyone can send any number of requests meanwhile. */
const PLATFORM_OUTAGE = { isOutage: () => true, begins: 'does not respond', ends: 'has not failed for 5 s' };
const QUIET_MS = 5_000;

/**
 * Passes all requests that the edge doesn't serve to the platform, including WebSocket upgrades. All clients share a few connections,
 * so no connection may wait for a client: request bodies are buffered before they are passed on, answers are buffered for their
 * readers, and each client has a limited share.
 */
export async function passthrough(
  app: FastifyInstance,
  { platformUrls, log, bounds, tracing }: PassthroughOptions,
): Promise<void> {
  const queue = new PlatformQueue(bounds);
  const answers = new ResponseBuffering(bounds);
  const addresses = platformUrls.map((url) => new URL(url));
  const { origin, pathname } = addresses[0]!;
  const base = pathname.replace(/\/$/, '');
  const targetOf = (url: string): string => platformTarget(base, url);
  const platform = new Pool(origin, {
    connections: bounds.platformConnections,
    pipelining: 1,
    keepAliveTimeout: 4_000,
    headersTimeout: ANSWER_TIMEOUT_MS,
    // The content security policy of a widget's frame lists all of its domains twice.
    maxHeaderSize: MAX_HEADER_BYTES,
    // The limits assume that a connection carries one request at a time.
    connect: patientConnector({
      addresses,
      patienceMs: PATIENCE_MS,
      timeout: CONNECT_TIMEOUT_MS,
      allowH2: false,
    }),
  });
  const outages = createOutageLog(log, 'the platform', QUIET_MS, PLATFORM_OUTAGE);
  // Idle connections would outlive the edge.
  app.addHook('onClose', () => {
    outages.close();
    return platform.destroy();
  });
  const failed = (reply: FastifyReply, error: Error): void => {
    outages.failed(error);
    reply.code(502).send(errorBody('platform_unavailable'));
  };
  const send = (reply: FastifyReply, { statusCode, headers, body }: PlatformAnswer): void => {
    reply.code(statusCode).headers(responseHeaders(headers));
    // The unread rest of a body would be read as the next request.
    if (!reply.request.raw.complete) reply.header('connection', 'close');
    reply.hijack();
    reply.raw.writeHead(statusCode, reply.getHeaders() as OutgoingHttpHeaders);
    answers.send(reply.request.client, body, reply.raw);
  };
  const upgrades = acceptUpgrades(app, {
    addresses,
    patienceMs: PATIENCE_MS,
    targetOf,
    timeoutMs: bounds.upgradeTimeoutMs,
    forwarded: forwardedHeaders,
    granted: ({ ticket }) => ticket.leave(),
    refused: send,
    failed,
  });
  app.addHook('preClose', (done) => {
    upgrades.close();
    done();
  });
  const enter = (request: FastifyRequest, reply: FastifyReply): boolean => {
    const ticket = queue.enter(request.client);
    if (!ticket) {
      refuse(request, reply, 'rate_limit_exceeded', TOO_MANY);
      return false;
    }
    request.ticket = ticket;
    reply.raw.once('close', () => ticket.leave());
    return true;
  };
  app.decorateRequest('client', '');
  app.decorateRequest('ticket', undefined as never);
  const pipelined = new PipelineQueue(bounds);
  app.addHook('onRequest', (request, reply, done) => {
    request.client = clientOf(request.ip ?? '');
    const begin = (): void => {
      if (upgrades.isUpgrade(request)) {
        if (enter(request, reply)) upgrades.pass(request, reply);
        return;
      }
      askForBody(request.raw, reply.raw);
      done();
    };
    const waits = pipelined.wait(request.client, request.raw, reply.raw, begin);
    if (!waits) refuse(request, reply, 'rate_limit_exceeded', TOO_MANY);
  });
  bufferBodies(app, new MemoryPool(bounds.requestBufferBytes, NETWORK_PART));
  // Fastify parses text/plain by default. Here no body is parsed; the platform checks its type.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, body, done) => done(null, body));
  const pass = (request: FastifyRequest, reply: FastifyReply): void => {
    const path = targetOf(request.url);
    if (!enter(request, reply)) return;
    const { ticket } = request;
    const free = (): void => ticket.finish();
    ticket.start(() => ask(platform, path, request, reply, { free, send, failed, tracing }));
  };
  for (const url of ['/', '/*']) app.route({ method: METHODS, url, ...edgeRules('platform'), handler: pass });
}

interface AskEnds extends Pick<PassthroughOptions, 'tracing'> {
  /** Called when the connection to the platform is free. */
  free(): void;
  send(reply: FastifyReply, answer: PlatformAnswer): void;
  failed(reply: FastifyReply, error: Error): void;
}

/** Methods that change nothing. */
const REPEATABLE = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Sends the request to the platform. Without an answer because the connection broke, it is sent once more if that changes nothing: the
 * platform may have been restarted. Otherwise it is never sent twice, which would burden a platform in trouble.
 */
function ask(
  platform: Dispatcher,
  path: string,
  request: FastifyRequest,
  reply: FastifyReply,
  { free, send, failed, tracing }: AskEnds,
): void {
  const { method, body = null } = request as { method: Dispatcher.HttpMethod; body?: Readable | null };
  const headers = requestHeaders(request);
  const span = tracing?.of(request.raw);
  span?.note({ 'http.route': 'platform' });
  if (span) headers.traceparent = span.traceparent;
  let mayRepeat = REPEATABLE.has(method) && !hasBody(request.raw);
  const tryOnce = (): void =>
    platform.request({ path, method, body, headers }, (error, answer) => {
      const isGone = reply.raw.destroyed || reply.sent;
      if (error && mayRepeat && !isGone && isBroken(error)) {
        mayRepeat = false;
        tryOnce();
        return;
      }
      if (error) free();
      // Without a listener, an error of an abandoned answer would be uncaught.
      else answer.body.once('close', free).on('error', () => undefined);
      if (isGone) answer?.body?.destroy();
      else if (error) failed(reply, error);
      else if (answer.statusCode <= MAX_STATUS) send(reply, answer);
      else {
        answer.body.destroy();
        failed(reply, new Error(`the platform responded with status ${answer.statusCode}`));
      }
    });
  tryOnce();
}

/** Whether the connection ended without an answer. */
const isBroken = (error: Error): boolean =>
  error instanceof errors.SocketError ||
  ['ECONNRESET', 'EPIPE'].includes(String((error as NodeJS.ErrnoException).code));

/**
 * Buffers a request's body before it is forwarded. Its bytes count for the client's widest network (IPv4 /24, IPv6 /48), because
 * one customer of a hoster has thousands of narrow ones.
 */
function bufferBodies(app: FastifyInstance, pool: MemoryPool): void {
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (!hasBody(request.raw)) {
      done(null, payload);
      return;
    }
    const network = networksOf(request.ip ?? '').at(-1)!;
    bufferRequest(request.raw, reply.raw, network, pool, (body) => {
      if (body === 'too_large') refuse(request, reply, 'body_too_large', TOO_LARGE);
      else if (body === 'no_room') refuse(request, reply, 'service_unavailable', NO_ROOM);
      else done(null, body);
    });
  });
}

/** Fastify answers 400. */
class UnreadableTargetError extends Error {
  readonly statusCode = 400;
}

/**
 * The target of a request to the platform: `url` without `.` segments, behind the path of the platform's address.
 * @param base Path of the platform's address, without a slash at its end.
 * @throws UnreadableTargetError for a path with `..` segments, or one that another parser could read as another host.
 */
function platformTarget(base: string, url: string): string {
  const at = url.indexOf('?');
  const path = at < 0 ? url : url.slice(0, at);
  const plain = decoded(path).replaceAll('\\', '/');
  if (/^[\\/]{2}/.test(path) || plain.includes('/..') || plain.includes('../'))
    throw new UnreadableTargetError(`unreadable: ${path}`);
  return base + new URL(path, 'http://platform.invalid').pathname + (at < 0 ? '' : url.slice(at));
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (cause) {
    throw new UnreadableTargetError(`unreadable: ${path}`, { cause });
  }
}
