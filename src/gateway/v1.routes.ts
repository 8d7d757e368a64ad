import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { AppError } from '../errors.js';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { SlotSet } from '../lib/slot-set.js';
import type { Endpoint, Meter } from '../metering/usage-record.js';
import { answerError, answerJson, answerPreflight, v1Headers } from './answer.js';
import { authenticate } from './authenticate.js';
import { type BodyBudget, BodyShare } from './body-budget.js';
import { Call } from './call.js';
import type { Catalog } from './catalog.js';
import type { EdgeMetrics } from './edge-metrics.js';
import type { KeyCache } from './key-cache.js';
import type { KeyEntry } from './key-states.js';
import { type Admission, CallerGoneError, type Limits } from './limits/limits.js';
import { AdmissionError } from './limits/refusals.js';
import type { ModelRoutes } from './model-routes.js';
import { Relay, type RelayDeps } from './relay.js';
import { inspectBody } from './request-body.js';
import { askForBody } from './request-guard.js';
import { reserveBody, takeBody } from './take-body.js';

export interface V1Deps {
  cache: KeyCache;
  catalog: Catalog;
  meter: Meter;
  metrics: EdgeMetrics;
  clock: Clock;
  log: Logger;
  limits: Limits;
  routes: ModelRoutes;
  relay: RelayDeps;
  /** Relays in flight; shutdown ends what is left of them. */
  active: SlotSet<Relay>;
  bodies: BodyBudget;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The key of a `/v1` request, set before a byte of the body is read. */
    keyEntry: KeyEntry;
    /** What metrics call its endpoint, refused or not; anything unknown is one label, however many paths are tried. */
    endpoint: EndpointLabel;
  }
}

type EndpointLabel = Endpoint | 'models' | 'other';

/** The inference API: `/v1/chat/completions`, `/v1/embeddings`, `/v1/models`; 404 for the rest. */
export function v1Routes(app: FastifyInstance, deps: V1Deps): void {
  app.decorateRequest('keyEntry', null as unknown as KeyEntry);
  app.decorateRequest('endpoint', 'other');
  const checked = (endpoint: EndpointLabel): { onRequest: onRequestHookHandler } => ({
    onRequest(request, reply, done) {
      request.endpoint = endpoint;
      checkKey(deps, endpoint, request, reply, done);
    },
  });
  app.setErrorHandler((error, request, reply) => answerFailure(deps, error, request, reply));
  // Calls are taken over in their hook: Fastify's reading of bodies costs more than all of our checks together.
  app.post('/v1/chat/completions', checked('chat'), NEVER_REACHED);
  app.post('/v1/embeddings', checked('embeddings'), NEVER_REACHED);
  app.get('/v1/models', checked('models'), (request, reply) => listModels(deps, request, reply));
  for (const url of ['/v1', '/v1/*']) app.all(url, checked('other'), NEVER_REACHED);
}

const NEVER_REACHED = (): void => {
  throw new Error('a request was not taken over');
};

/** Preflights, then the key, then whether the endpoint exists: all of it before the body. */
function checkKey(
  deps: V1Deps,
  endpoint: EndpointLabel,
  request: FastifyRequest,
  reply: FastifyReply,
  done: () => void,
): void {
  if (request.method === 'OPTIONS') {
    reply.hijack();
    answerPreflight(reply.raw, request.id, request.headers['access-control-request-headers']);
    return;
  }
  authenticate(request.raw, deps.cache, (error, entry) => {
    if (!entry) {
      const failure = error
        ? new AppError('service_unavailable', { retryAfterSeconds: 1 })
        : new AppError('invalid_api_key');
      sendError(deps, request, reply, failure);
      return;
    }
    request.keyEntry = entry;
    if (endpoint === 'other') refuse(deps, request, reply);
    else if (encodedBody(request)) sendError(deps, request, reply, new AppError('unsupported_media_type'));
    else if (endpoint === 'models') done();
    else takeCall(deps, endpoint, request, reply);
  });
}

/** Reads the body, within the budget that all bodies share, and forwards the call. */
function takeCall(deps: V1Deps, endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply): void {
  const share = new BodyShare(deps.bodies, request.keyEntry.account.id);
  const failed = (error: unknown): void => {
    share.release();
    // Nobody waits for the rest of what is too large.
    if ((error as AppError).code === 'body_too_large') reply.raw.setHeader('connection', 'close');
    answerFailure(deps, error, request, reply);
  };
  reply.hijack();
  try {
    reserveBody(request.raw, share);
    askForBody(request, reply);
  } catch (error) {
    failed(error);
    return;
  }
  takeBody(request.raw, share, (error, body) => {
    if (!body) {
      failed(error ?? new CallerGoneError());
      return;
    }
    try {
      forward(deps, endpoint, body, share, request, reply, failed);
    } catch (thrown) {
      failed(thrown);
    }
  });
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
  const headers = v1Headers(reply.raw, request.id, account.window.peek(deps.clock.now()));
  answerJson(reply.raw, 200, headers, Buffer.from(JSON.stringify({ object: 'list', data })));
  deps.metrics.answered('models', 'ok');
}

/** OpenAI's list has a time of making; ours is the product's first day. */
const MODELS_CREATED = Date.UTC(2026, 10, 21) / 1000;

function forward(
  deps: V1Deps,
  endpoint: Endpoint,
  raw: Buffer,
  share: BodyShare,
  request: FastifyRequest,
  reply: FastifyReply,
  failed: (error: unknown) => void,
): void {
  const entry = request.keyEntry;
  const body = inspectBody(raw);
  if (endpoint === 'embeddings' && body.stream) {
    throw new AppError('invalid_body', {
      message: 'Embeddings are not streamed: leave "stream" out.',
      param: 'stream',
    });
  }
  if (!deps.meter.accepting()) throw new AppError('service_unavailable', { retryAfterSeconds: 1 });
  const start = (admission: Admission): void => {
    const call = new Call(deps, { id: request.id, endpoint, entry, admission, body });
    const relay = new Relay(deps.relay, reply.raw, call, share, (over) => {
      share.release();
      deps.active.delete(slot, over);
    });
    const slot = deps.active.add(relay);
    relay.start();
  };
  const admitted = deps.limits.admit(entry, body, reply.raw);
  if (admitted instanceof Promise) admitted.then(start).catch(failed);
  else start(admitted);
}

function answerFailure(deps: V1Deps, error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (error instanceof CallerGoneError) {
    deps.metrics.answered(request.endpoint, 'client_closed_request');
    return;
  }
  if (error instanceof AppError) sendError(deps, request, reply, error);
  else sendError(deps, request, reply, internalError(deps, error, request));
}

/** What isn't a refusal of ours is a fault of ours. */
function internalError(deps: V1Deps, error: unknown, request: FastifyRequest): AppError {
  deps.log.error({ err: error, reqId: request.id }, 'a /v1 request failed');
  return new AppError('internal_error');
}

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
    v1Headers(reply.raw, request.id, rate),
  );
  deps.metrics.answered(request.endpoint, error.code);
}
