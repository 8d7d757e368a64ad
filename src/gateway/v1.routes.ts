import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.js';
import type { Clock } from '../lib/clock.js';
import type { Meter } from '../metering/usage-record.js';
import { answerError, answerJson, answerPreflight, v1Headers } from './answer.js';
import { authenticate } from './authenticate.js';
import { type BodyBudget, type BodyShare, countingStream } from './body-budget.js';
import { Call } from './call.js';
import type { Catalog } from './catalog.js';
import type { EdgeMetrics } from './edge-metrics.js';
import type { KeyCache, KeyEntry } from './key-cache.js';
import { type Admission, CallerGoneError, type Limits } from './limits/limits.js';
import { AdmissionError } from './limits/refusals.js';
import type { ModelRoutes } from './model-routes.js';
import { Relay, type RelayDeps } from './relay.js';
import { inspectBody } from './request-body.js';
import { askForBody } from './request-guard.js';
import { V1_BODY_LIMIT_BYTES } from './route-table.js';

export interface V1Deps {
  cache: KeyCache;
  catalog: Catalog;
  meter: Meter;
  metrics: EdgeMetrics;
  clock: Clock;
  limits: Limits;
  routes: ModelRoutes;
  relay: RelayDeps;
  /** Relays in flight; shutdown ends what is left of them. */
  active: Set<Relay>;
  bodies: BodyBudget;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The key of a `/v1` request, set before a byte of the body is read. */
    keyEntry: KeyEntry;
    /** What its body takes of the budget. */
    bodyShare: BodyShare | null;
  }
}

/** The inference API: `/v1/chat/completions`, `/v1/embeddings`, `/v1/models`; 404 for the rest. */
export function v1Routes(app: FastifyInstance, deps: V1Deps): void {
  app.decorateRequest('keyEntry', null as unknown as KeyEntry);
  app.decorateRequest('bodyShare', null);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.addHook('onRequest', (request, reply, done) => checkKey(deps, request, reply, done));
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const share = request.bodyShare;
    if (!share || request.headers['transfer-encoding'] === undefined) done(null, payload);
    else done(null, countBody(payload, share));
  });
  app.setErrorHandler((error, request, reply) => answerFailure(deps, error, request, reply));
  app.post('/v1/chat/completions', (request, reply) => forward(deps, 'chat', request, reply));
  app.post('/v1/embeddings', (request, reply) => forward(deps, 'embeddings', request, reply));
  app.get('/v1/models', (request, reply) => listModels(deps, request, reply));
  for (const url of ['/v1', '/v1/*']) app.all(url, (request, reply) => refuse(deps, request, reply));
}

/** Preflights, then the key, then whether the endpoint exists: all of it before the body. */
function checkKey(deps: V1Deps, request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  if (request.method === 'OPTIONS') {
    reply.hijack();
    answerPreflight(reply.raw, request.id, request.headers['access-control-request-headers']);
    return;
  }
  authenticate(request.raw, deps.cache, (error, entry) => {
    if (entry) request.keyEntry = entry;
    if (entry && request.routeOptions.url?.startsWith('/v1/') && !request.routeOptions.url.endsWith('*')) {
      if (encodedBody(request)) sendError(deps, request, reply, new AppError('unsupported_media_type'));
      else if (request.method === 'GET') done();
      else reserveBody(deps, request, reply, done);
      return;
    }
    if (error) sendError(deps, request, reply, new AppError('service_unavailable', { retryAfterSeconds: 1 }));
    else if (!entry) sendError(deps, request, reply, new AppError('invalid_api_key'));
    else refuse(deps, request, reply);
  });
}

/** Takes the body's length from the budget before a byte of it is read; the call's end gives it back. */
function reserveBody(deps: V1Deps, request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const bytes = Number(request.headers['content-length'] ?? 0);
  const share = deps.bodies.open(request.keyEntry.account.id);
  try {
    // Larger ones are refused by their length, unread.
    if (bytes <= V1_BODY_LIMIT_BYTES) share.grow(bytes);
  } catch (error) {
    sendError(deps, request, reply, error as AppError);
    return;
  }
  request.bodyShare = share;
  reply.raw.once('close', share.release);
  askForBody(request, reply);
  done();
}

function countBody(payload: Readable, share: BodyShare): Readable {
  const counted = countingStream(share);
  counted.on('error', () => {
    // What still comes is thrown away, so that the client can read the answer.
    payload.unpipe(counted);
    payload.resume();
  });
  payload.on('error', (error) => counted.destroy(error));
  payload.on('close', () => counted.destroy());
  return payload.pipe(counted);
}

function encodedBody(request: FastifyRequest): boolean {
  const encoding = request.headers['content-encoding'];
  return encoding !== undefined && encoding !== 'identity';
}

function refuse(deps: V1Deps, request: FastifyRequest, reply: FastifyReply): void {
  const message = `${request.method} ${request.url.split('?', 1)[0]!.slice(0, 100)} is not supported. There are POST /v1/chat/completions, POST /v1/embeddings and GET /v1/models.`;
  sendError(deps, request, reply, new AppError('endpoint_not_supported', { message }));
}

function listModels(deps: V1Deps, request: FastifyRequest, reply: FastifyReply): void {
  const { allowedModels: allowed, account } = request.keyEntry;
  const data = deps.catalog
    .all()
    .filter((model) => allowed.has(model.publicName))
    .map((model) => ({
      id: model.publicName,
      object: 'model',
      created: MODELS_CREATED,
      owned_by: deps.routes.ownerOf(model.publicName),
    }));
  reply.hijack();
  const headers = v1Headers(request.id, account.window.peek(deps.clock.now()));
  answerJson(reply.raw, 200, headers, Buffer.from(JSON.stringify({ object: 'list', data })));
  deps.metrics.answered('models', 'ok');
}

/** OpenAI's list has a time of making; ours is the product's first day. */
const MODELS_CREATED = Date.UTC(2026, 10, 21) / 1000;

function forward(
  deps: V1Deps,
  endpoint: 'chat' | 'embeddings',
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const entry = request.keyEntry;
  const body = inspectBody(request.body as Buffer | undefined);
  if (endpoint === 'embeddings' && body.stream) {
    throw new AppError('invalid_body', {
      message: 'Embeddings are not streamed: leave "stream" out.',
      param: 'stream',
    });
  }
  if (!deps.meter.accepting()) throw new AppError('service_unavailable', { retryAfterSeconds: 1 });
  const admitted = deps.limits.admit(entry, body, reply.raw);
  const start = (admission: Admission): void => {
    const call = new Call(deps, { id: request.id, endpoint, entry, admission, body });
    const relay = new Relay(deps.relay, reply.raw, call, request.bodyShare!, (over) =>
      deps.active.delete(over),
    );
    deps.active.add(relay);
    relay.start();
  };
  reply.hijack();
  if (admitted instanceof Promise) {
    admitted.then(start).catch((error: unknown) => answerFailure(deps, error, request, reply));
  } else {
    start(admitted);
  }
}

function answerFailure(deps: V1Deps, error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (error instanceof CallerGoneError) {
    deps.metrics.answered(endpointOf(request), 'client_closed_request');
    return;
  }
  if (error instanceof AppError) sendError(deps, request, reply, error);
  else sendError(deps, request, reply, fastifyError(error, request));
}

/** Fastify's own refusals, told in our shape. */
function fastifyError(error: unknown, request: FastifyRequest): AppError {
  const { code, statusCode } = error as { code?: string; statusCode?: number };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new AppError('body_too_large', {
      message: `The body is larger than ${V1_BODY_LIMIT_BYTES / 2 ** 20} MiB.`,
    });
  }
  if (statusCode === 415) return new AppError('unsupported_media_type');
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) return new AppError('invalid_body');
  request.log.error({ err: error, reqId: request.id }, 'a /v1 request failed');
  return new AppError('internal_error');
}

/** What metrics call an endpoint, refused or not; anything else is one label, however many paths are tried. */
const ENDPOINT_LABELS: Record<string, string> = {
  '/v1/chat/completions': 'chat',
  '/v1/embeddings': 'embeddings',
  '/v1/models': 'models',
};

function sendError(deps: V1Deps, request: FastifyRequest, reply: FastifyReply, error: AppError): void {
  const refused = error instanceof AdmissionError ? error : undefined;
  // Refusals too tell the state of the limit, without counting against it.
  const entry = request.keyEntry as KeyEntry | null;
  const rate = refused?.rate ?? entry?.account.window.peek(deps.clock.now());
  reply.hijack();
  answerError(
    reply.raw,
    error.code,
    { ...error.options, noRetry: refused?.noRetry },
    v1Headers(request.id, rate),
  );
  deps.metrics.answered(endpointOf(request), error.code);
}

const endpointOf = (request: FastifyRequest): string =>
  ENDPOINT_LABELS[request.routeOptions.url ?? ''] ?? 'other';
