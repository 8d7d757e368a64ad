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
import { authenticate } from './authenticate.js';
import { collectBody, requireUnencoded } from './collect-body.js';
import { Exchange } from './exchange.js';
import { type InspectedRequest, inspectRequest } from './inspect-request.js';
import { notSupported } from './not-supported.js';
import { type EdgeRouteRules, edgeRules, V1_BODY_LIMIT_BYTES } from './route-rules.js';
import type { V1Deps } from './v1-deps.js';
import { answerFailure } from './v1-failure.js';
import { V1Sink } from './v1-sink.js';

/** The inference API: `/v1/chat/completions`, `/v1/embeddings`, `/v1/models` and, if enabled, `/v1/responses`; 404 for the rest. */
export function v1Routes(app: FastifyInstance, deps: V1Deps): void {
  // Calls are handled in a hook: Fastify's body parsing costs more than all our checks together.
  app.addHook('onRequest', (request, reply, done) => {
    const matched: Partial<EdgeRouteRules> = matchedRules<EdgeRouteRules>(request) ?? { auth: 'none' };
    const { auth, endpoint = 'other', isTranslated } = matched;
    if (auth !== 'key') {
      done();
      return;
    }
    reply.hijack();
    answer(deps, new Exchange(request.id, endpoint, request.raw, reply.raw, isTranslated));
  });
  const call = { bodyLimitBytes: V1_BODY_LIMIT_BYTES };
  app.post('/v1/chat/completions', edgeRules('key', { ...call, endpoint: 'chat' }), NEVER_REACHED);
  app.post('/v1/embeddings', edgeRules('key', { ...call, endpoint: 'embeddings' }), NEVER_REACHED);
  if (deps.responses) {
    const translated = edgeRules('key', { ...call, endpoint: 'chat', isTranslated: true });
    app.post('/v1/responses', translated, NEVER_REACHED);
  }
  app.get('/v1/models', edgeRules('key', { endpoint: 'models' }), NEVER_REACHED);
  for (const url of ['/v1', '/v1/*']) app.all(url, edgeRules('key'), NEVER_REACHED);
}

const NEVER_REACHED = (): void => {
  throw new Error('failed to hijack a request');
};

/** Answers any request to `/v1`. Never throws. */
export function answer(deps: V1Deps, exchange: Exchange): void {
  handle(deps, exchange)
    .catch((error: unknown) => answerFailure(deps, error, exchange))
    // An exception while sending an error response closes this connection instead of ending the process.
    .catch((error: unknown) => {
      deps.log.error({ err: error, reqId: exchange.id }, 'failed to answer a /v1 request');
      exchange.response.destroy();
    });
}

/** Handles a request, with the checks in the order of docs/requirements.md. @throws AppError, CallerGoneError */
async function handle(deps: V1Deps, exchange: Exchange): Promise<void> {
  const { request, response, endpoint, id } = exchange;
  deps.tracing?.of(request)?.note({ 'http.route': `/v1 ${endpoint}` });
  if (request.method === 'OPTIONS') {
    answerPreflight(response, id, request.headers['access-control-request-headers']);
    return;
  }
  const key = await activeKey(exchange, authenticate(request, deps.cache));
  refuseBeyondBudget(key.account, deps.clock.now());
  if (endpoint === 'other') throw notSupported(request, deps.served);
  requireUnencoded(request);
  if (endpoint === 'models') {
    listModels(deps, exchange, key);
    return;
  }
  refuseOverRate(key.account, deps.clock.now());
  const share = new BodyShare(deps.bodies, key.account.id);
  // `close` is emitted once however the request ends, also for responses that wait behind another one.
  response.on('close', () => share.release());
  try {
    const onLarge = (): void => refuseLarge(key.account, deps.clock.now());
    const bytes = await collectBody(exchange, { share, minimumRate: deps.minimumUploadRate, onLarge });
    // The key may have changed during a slow upload.
    const payer = await activeKey(exchange, deps.cache.find(key.hash));
    const body = await inspectRequest(deps, exchange, payer, bytes);
    exchange.model = body.model;
    if (endpoint === 'embeddings' && body.stream) throw notStreamed();
    if (!deps.meter.accepting()) throw new AppError('service_unavailable', { retryAfterSeconds: 1 });
    if (body.echo !== undefined) share.grow(deps.responses!.echoedBytes(body.echo, body.stream));
    const admission = await deps.limits.admit(payer, body, response, endpoint);
    startRelay(deps, exchange, { endpoint, payer, admission, body }, share);
  } catch (error) {
    share.release();
    throw error;
  }
}

/**
 * Waits for the look-up of a key and checks that the key is active and the client still connected.
 * @throws AppError `invalid_api_key`, RowUnavailableError, CallerGoneError
 */
async function activeKey(exchange: Exchange, lookUp: Promise<KeyEntry | null>): Promise<KeyEntry> {
  const found = await lookUp.finally(() => {
    if (exchange.gone) throw new CallerGoneError();
  });
  exchange.presentedKey = found;
  exchange.keyEntry = found?.active ? found : null;
  if (!exchange.keyEntry) throw new AppError('invalid_api_key');
  return exchange.keyEntry;
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

const notStreamed = (): AppError =>
  new AppError('invalid_body', {
    message: 'Embeddings can\'t be streamed: omit "stream".',
    param: 'stream',
  });

/** Starts to relay an admitted call. */
function startRelay(
  deps: V1Deps,
  { id, request, response }: Exchange,
  admitted: { endpoint: Endpoint; payer: Payer; admission: Admission; body: InspectedRequest },
  share: BodyShare,
): void {
  const promptVersionId = namedVersion(deps, request);
  const input = { id, ...admitted, promptVersionId, span: deps.tracing?.of(request) };
  const client = new V1Sink(response, input, deps.reader);
  const { echo } = admitted.body;
  const sink = echo === undefined ? client : deps.responses!.sink(client, input, echo);
  const call = new Call(deps, input);
  const relay = new Relay(deps.relay, sink, call, share, (over) => deps.active.delete(slot, over));
  const slot = deps.active.add(relay);
  relay.start();
}

/**
 * The prompt version that the caller names in a header (docs/decisions/0123-prompt-versions-of-calls.md). Not looked up here;
 * the flush checks who owns it.
 */
function namedVersion({ metrics }: V1Deps, { headers }: IncomingMessage): string | null {
  const named = headers['x-gateway-prompt-version'];
  if (named === undefined) return null;
  const id = typeof named === 'string' ? uuidOf(named) : undefined;
  if (id !== undefined) return id;
  metrics.malformedVersion();
  return null;
}
