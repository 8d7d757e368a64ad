import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError, type ErrorCode } from '../../errors.js';
import { CallerGoneError } from '../../inference/limits/limits.js';
import { AdmissionError } from '../../inference/limits/refusals.js';
import { SMALL_BODY_BYTES } from '../../inference/memory/body-budget.js';
import { WidgetRefusal } from '../../inference/widgets/widget-admission.js';
import { isLoopback, networksOf } from '../../lib/network.js';
import { matchedRules } from '../../lib/route-rules.js';
import { answerError, answerJson } from '../answer.js';
import { cutSoon, SlowBodyError } from '../collect-body.js';
import { clientOf } from '../resource-limits.js';
import { type EdgeRouteRules, edgeRules, WIDGET_BODY_LIMIT_BYTES } from '../route-rules.js';
import { answerWidgetPreflight, readerOf, widgetHeaders } from './widget-answer.js';
import { chat, countOutcome, requireWidget } from './widget-chat.js';
import type { WidgetDeps } from './widget-deps.js';
import { WidgetExchange } from './widget-exchange.js';

const CHAT = '/api/widget/chat';
const CONFIG = '/api/widget/:key/config';

/** Requests of widgets on customers' pages: a widget's settings, and the visitors' messages. */
export function widgetRoutes(app: FastifyInstance, deps: WidgetDeps): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (matchedRules<EdgeRouteRules>(request)?.auth !== 'widget') {
      done();
      return;
    }
    reply.hijack();
    deps.tracing?.of(request.raw)?.note({ 'http.route': request.routeOptions.url ?? CHAT });
    const ip = request.ip ?? '';
    const networks = isLoopback(ip) ? [] : networksOf(ip);
    const exchange = new WidgetExchange(request.id, request.raw, reply.raw, clientOf(ip), networks);
    answer(deps, exchange, request)
      .catch((error: unknown) => answerFailure(deps, exchange, error))
      // An exception while sending an error response closes this connection instead of ending the process.
      .catch((error: unknown) => {
        deps.log.error({ err: error, reqId: exchange.id }, 'failed to answer a widget request');
        reply.raw.destroy();
      });
  });
  app.post(CHAT, edgeRules('widget', { bodyLimitBytes: WIDGET_BODY_LIMIT_BYTES }), NEVER_REACHED);
  app.options(CHAT, edgeRules('widget'), NEVER_REACHED);
  app.get(CONFIG, edgeRules('widget'), NEVER_REACHED);
  app.options(CONFIG, edgeRules('widget'), NEVER_REACHED);
}

const NEVER_REACHED = (): void => {
  throw new Error('failed to hijack a request');
};

async function answer(deps: WidgetDeps, exchange: WidgetExchange, request: FastifyRequest): Promise<void> {
  const { key } = request.params as { key?: string };
  deps.refusals.require(exchange.networks);
  if (request.method === 'OPTIONS') {
    await preflight(deps, exchange, key);
    return;
  }
  if (key === undefined) {
    await chat(deps, exchange);
    return;
  }
  const { row } = await requireWidget(deps, exchange, key);
  const config = {
    name: row.name,
    greeting_message: row.greeting,
    placeholder: row.placeholder,
    theme: { primary: row.primary, position: row.position },
  };
  const headers = widgetHeaders(exchange.id, exchange.reader);
  answerJson(exchange.response, 200, headers, Buffer.from(JSON.stringify(config)));
}

/** The key of a chat is in its body, which a preflight doesn't have, so every origin is allowed. */
async function preflight(deps: WidgetDeps, exchange: WidgetExchange, key: string | undefined): Promise<void> {
  const { id, response, origin } = exchange;
  if (key === undefined) {
    answerWidgetPreflight(response, id, origin ?? readerOf(undefined, undefined));
    return;
  }
  await requireWidget(deps, exchange, key);
  answerWidgetPreflight(response, id, exchange.reader);
}

/** Responds with an error; anything that isn't an AppError is an internal error. */
function answerFailure(deps: WidgetDeps, exchange: WidgetExchange, thrown: unknown): void {
  const { id, request, response, reader } = exchange;
  if (thrown instanceof CallerGoneError) {
    countRefusal(deps, exchange);
    return;
  }
  if (!(thrown instanceof AppError)) deps.log.error({ err: thrown, reqId: id }, 'a widget request failed');
  const error = thrown instanceof AppError ? thrown : new AppError('internal_error');
  if (error.status < 500 || OWNER_FAULTS.has(error.code)) countRefusal(deps, exchange);
  if (request.method === 'POST') countOutcome(deps, exchange, reasonOf(error));
  deps.metrics.answered('widget', error.code);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const noRetry = error instanceof AdmissionError && error.noRetry;
  const status = error instanceof SlowBodyError ? 408 : error.status;
  answerError(response, error.code, { ...error.options, noRetry, status }, widgetHeaders(id, reader));
  if (!request.complete) cutSoon(request, response);
}

/** Server errors that a widget's owner has to fix. All others are our fault and don't count against the visitor's network. */
const OWNER_FAULTS: ReadonlySet<ErrorCode> = new Set([
  'widget_owner_insufficient_balance',
  'upstream_unconfigured',
]);

/** A visitor who leaves before the model is called counts like a refused one, since it costs us the same work. */
function countRefusal({ refusals }: WidgetDeps, { networks, bodyBytes }: WidgetExchange): void {
  refusals.count(networks, 1 + Math.floor(bodyBytes / SMALL_BODY_BYTES));
}

const reasonOf = (error: AppError): string => (error instanceof WidgetRefusal ? error.reason : error.code);
