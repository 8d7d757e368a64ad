import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../errors.js';
import { Call } from '../inference/call.js';
import type { KeyEntry } from '../inference/keys/key-cache.js';
import { type Admission, CallerGoneError } from '../inference/limits/limits.js';
import { refuseBeyondBudget, refuseLarge, refuseOverRate } from '../inference/limits/refusal-budget.js';
import { BodyShare } from '../inference/memory/body-budget.js';
import type { Payer } from '../inference/payer.js';
import { Relay } from '../inference/relay/relay.js';
import { matchedRules } from '../lib/route-rules.js';
import { uuidOf } from '../lib/uuid.js';
import type { Endpoint } from '../metering/usage-record.js';
import { answerJson, answerPreflight, v1Headers } from './answer.js';
import { authenticate, authenticateAgain } from './authenticate.js';
import { Exchange } from './exchange.js';
import { type ReadBody, readBody } from './read-body.js';
import { askForBody, originForm } from './request-guard.js';
import { type RouteRules, rules, V1_BODY_LIMIT_BYTES } from './route-rules.js';
import { checkAnnounced, requireUnencoded, takeBody } from './take-body.js';
import type { V1Deps } from './v1-deps.js';
import { answerFailure } from './v1-failure.js';
import { V1Recipient } from './v1-recipient.js';

/** The inference API: `/v1/chat/completions`, `/v1/embeddings`, `/v1/models`, if enabled `/v1/responses`; 404 for the rest. */
export function v1Routes(app: FastifyInstance, deps: V1Deps): void {
  // A hook handles calls: Fastify's body parsing costs more than all our checks together.
  app.addHook('onRequest', (request, reply, done) => {
    const matched: Partial<RouteRules> = matchedRules<RouteRules>(request) ?? { auth: 'none' };
    const { auth, endpoint = 'other', isTranslated } = matched;
    if (auth !== 'key') {
      done();
      return;
    }
    reply.hijack();
    answer(deps, new Exchange(request.id, endpoint, request.raw, reply.raw, isTranslated));
  });
  const call = { bodyLimitBytes: V1_BODY_LIMIT_BYTES };
  app.post('/v1/chat/completions', rules('key', { ...call, endpoint: 'chat' }), NEVER_REACHED);
  app.post('/v1/embeddings', rules('key', { ...call, endpoint: 'embeddings' }), NEVER_REACHED);
  if (deps.responses) {
    const translated = rules('key', { ...call, endpoint: 'chat', isTranslated: true });
    app.post('/v1/responses', translated, NEVER_REACHED);
  }
  app.get('/v1/models', rules('key', { endpoint: 'models' }), NEVER_REACHED);
  for (const url of ['/v1', '/v1/*']) app.all(url, rules('key'), NEVER_REACHED);
}

const NEVER_REACHED = (): void => {
  throw new Error('failed to hijack a request');
};

/** Answers any request of `/v1`. Never throws. */
export function answer(deps: V1Deps, exchange: Exchange): void {
  attempt(deps, exchange, () => check(deps, exchange));
}

function attempt(deps: V1Deps, exchange: Exchange, step: () => void): void {
  try {
    step();
  } catch (error) {
    answerFailure(deps, error, exchange);
  }
}

/** Preflights, then the key, then whether the endpoint exists: all of it before the body. */
function check(deps: V1Deps, exchange: Exchange): void {
  const { request, response, endpoint, id } = exchange;
  deps.tracing?.of(request)?.note({ 'http.route': `/v1 ${endpoint}` });
  if (request.method === 'OPTIONS') {
    answerPreflight(response, id, request.headers['access-control-request-headers']);
    return;
  }
  authenticate(request, deps.cache, (error, found) =>
    attempt(deps, exchange, () => {
      const entry = activeKey(exchange, error, found);
      refuseBeyondBudget(entry.account, deps.clock.now());
      if (endpoint === 'other') throw notSupported(deps, request);
      requireUnencoded(request);
      if (endpoint === 'models') listModels(deps, exchange, entry);
      else takeCall(deps, exchange, endpoint, entry);
    }),
  );
}

/** What a look-up of the key found, after which the client may be gone. */
function activeKey(exchange: Exchange, error: Error | null, entry: KeyEntry | null): KeyEntry {
  if (exchange.gone) throw new CallerGoneError();
  if (error) throw new AppError('service_unavailable', { retryAfterSeconds: 1 });
  exchange.presentedKey = entry;
  exchange.keyEntry = entry?.active ? entry : null;
  if (!exchange.keyEntry) throw new AppError('invalid_api_key');
  return exchange.keyEntry;
}

/** Reads the body, within the budget that all bodies share, and forwards the call. */
function takeCall(deps: V1Deps, exchange: Exchange, endpoint: Endpoint, entry: KeyEntry): void {
  const { request, response } = exchange;
  const share = new BodyShare(deps.bodies, entry.account.id);
  // Sent once, however and wherever the request ends, including responses that wait behind another one.
  response.on('close', () => share.release());
  const failed = (error: unknown): void => {
    share.release();
    answerFailure(deps, error, exchange);
  };
  const options = {
    share,
    pace: deps.pace,
    onLarge: () => refuseLarge(entry.account, deps.clock.now()),
  };
  try {
    refuseOverRate(entry.account, deps.clock.now());
    checkAnnounced(request, options);
    askForBody(request, response);
  } catch (error) {
    failed(error);
    return;
  }
  takeBody(exchange, options, (error, body) => {
    if (!body) {
      failed(error ?? new CallerGoneError());
      return;
    }
    // An upload may take its time, in which the key can have changed.
    authenticateAgain(entry, deps.cache, (unread, found) => {
      try {
        const current = activeKey(exchange, unread, found);
        const translated = exchange.isTranslated ? deps.responses : undefined;
        const call = (read: ReadBody): void => {
          exchange.model = read.model;
          forward(deps, exchange, endpoint, current, read, share, failed);
        };
        const read = readBody(deps, response, current, body, translated);
        if (read instanceof Promise) read.then(call).catch(failed);
        else call(read);
      } catch (thrown) {
        failed(thrown);
      }
    });
  });
}

function notSupported({ responses }: V1Deps, request: IncomingMessage): AppError {
  const [path] = originForm(request).split('?', 1);
  const asked = `${request.method} ${path!.slice(0, 100)}`;
  const posted = `POST /v1/chat/completions, ${responses ? 'POST /v1/responses, ' : ''}POST /v1/embeddings`;
  const message = `${asked} is not supported. Supported endpoints are ${posted} and GET /v1/models.`;
  return new AppError('endpoint_not_supported', { message });
}

function listModels(deps: V1Deps, { id, response }: Exchange, payer: Payer): void {
  const { allowedModels: allowed, account } = payer;
  const data = deps.catalog
    .all()
    .filter((model) => allowed.has(model.publicName))
    .map((model) => ({
      id: model.publicName,
      object: 'model',
      created: MODELS_CREATED,
      owned_by: deps.routes.ownerOf(model.publicName),
    }));
  const headers = v1Headers(response, id, account.window.peek(deps.clock.now()));
  answerJson(response, 200, headers, Buffer.from(JSON.stringify({ object: 'list', data })));
  deps.metrics.answered('models', 'ok');
}

/** OpenAI's list has a creation time; ours is the product's first day. */
const MODELS_CREATED = Date.UTC(2026, 10, 21) / 1000;

function forward(
  deps: V1Deps,
  { id, request, response }: Exchange,
  endpoint: Endpoint,
  payer: Payer,
  body: ReadBody,
  share: BodyShare,
  failed: (error: unknown) => void,
): void {
  if (endpoint === 'embeddings' && body.stream) {
    throw new AppError('invalid_body', {
      message: 'Embeddings can\'t be streamed: omit "stream".',
      param: 'stream',
    });
  }
  if (!deps.meter.accepting()) throw new AppError('service_unavailable', { retryAfterSeconds: 1 });
  const { responses } = deps;
  const { echo } = body;
  if (responses && echo !== undefined) share.grow(responses.echoedBytes(echo, body.stream));
  const start = (admission: Admission): void => {
    const promptVersionId = namedVersion(deps, request);
    const span = deps.tracing?.of(request);
    const input = { id, endpoint, payer, admission, body, promptVersionId, span };
    const client = new V1Recipient(response, input, deps.reader);
    const recipient = responses && echo !== undefined ? responses.recipient(client, input, echo) : client;
    const call = new Call(deps, input);
    const relay = new Relay(deps.relay, recipient, call, share, (over) => deps.active.delete(slot, over));
    const slot = deps.active.add(relay);
    relay.start();
  };
  const admitted = deps.limits.admit(payer, body, response, endpoint);
  if (admitted instanceof Promise) admitted.then(start).catch(failed);
  else start(admitted);
}

/**
 * The version of a prompt that a caller says it has sent (docs/decisions/0123-prompt-versions-of-calls.md). Not looked up here:
 * whose it is decides the flush.
 */
function namedVersion({ metrics }: V1Deps, { headers }: IncomingMessage): string | null {
  const named = headers['x-gateway-prompt-version'];
  if (named === undefined) return null;
  const id = typeof named === 'string' ? uuidOf(named) : undefined;
  if (id !== undefined) return id;
  metrics.malformedVersion();
  return null;
}
