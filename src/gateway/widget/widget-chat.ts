import { AppError } from '../../errors.js';
import { Call } from '../../inference/call.js';
import { type Admission, CallerGoneError } from '../../inference/limits/limits.js';
import type { MessageQuestion } from '../../inference/limits/shared-messages.js';
import { BodyShare } from '../../inference/memory/body-budget.js';
import { Relay } from '../../inference/relay/relay.js';
import { READ_REQUEST } from '../../inference/request/read-request.js';
import type { InspectedBody } from '../../inference/request/request-body.js';
import { Reservation } from '../../inference/widgets/reservation.js';
import { visitorLimits } from '../../inference/widgets/visitors.js';
import {
  asWidgetRefusal,
  type CountedVisitor,
  modelOf,
  OtherModelError,
  requireBudget,
  requirePlace,
  requireRoom,
} from '../../inference/widgets/widget-admission.js';
import type { WidgetEntry } from '../../inference/widgets/widget-cache.js';
import { newId } from '../../lib/ids.js';
import type { Money } from '../../lib/money.js';
import { allowsSite, siteOf } from '../../services/widgets/domains.rules.js';
import { ANSWERED } from '../../services/widgets/outcomes.rules.js';
import type { WidgetChatInput } from '../../services/widgets/widget-chat.inputs.js';
import { hasPublicKeyForm } from '../../services/widgets/widgets.rules.js';
import { whileOpen } from '../inspect-request.js';
import { V1Sink } from '../v1-sink.js';
import { widgetHeaders } from './widget-answer.js';
import { checkChat, readChatBody, upstreamBody } from './widget-body.js';
import type { WidgetDeps } from './widget-deps.js';
import type { WidgetExchange } from './widget-exchange.js';
import { WidgetSink } from './widget-sink.js';

/** A message that passed every check except the limits. */
interface Message {
  widget: WidgetEntry;
  input: WidgetChatInput;
  sessionId: string;
}

/**
 * Answers a message of a visitor: checks the widget first, then handles the message like any other call.
 * @throws AppError, CallerGoneError
 */
export async function chat(deps: WidgetDeps, exchange: WidgetExchange): Promise<void> {
  const body = await readChatBody(exchange, deps);
  const widget = await requireWidget(deps, exchange, body.public_key);
  if (!allowsSite(widget.row.domains, siteOf(exchange.origin))) throw new AppError('widget_origin_denied');
  const newSession = newId();
  const input = checkChat(body, widget, newSession, deps.history);
  const message = { widget, input, sessionId: input.session_id ?? newSession };
  const visitor = countedVisitor(deps, exchange, message);
  requireRoom(widget, visitor, deps);
  if (!deps.meter.accepting()) throw new AppError('service_unavailable', { retryAfterSeconds: 1 });
  const reservation = new Reservation({
    state: widget.state,
    // All widgets share the memory for visitors' names: a widget without limits must not push out those of others.
    takeVisitor: () => (visitor.limits ? deps.visitors.take(visitor.names) : undefined),
    shared: deps.limits.messages,
    onAnswered(cost) {
      countOutcome(deps, exchange, ANSWERED, cost);
      if (widget.row.loopDetection) deps.loops.note(visitor.names, input.messages.at(-1)!.content);
    },
  });
  try {
    await takePlace(deps, exchange, message, { visitor, reservation });
    await forwardToModel(deps, exchange, message, reservation);
  } catch (error) {
    reservation.release({ visitorLeft: error instanceof CallerGoneError });
    throw asWidgetRefusal(error, widget, deps.clock);
  }
}

/** Forwards a message to the model that the budget allows, and once more if the budget has changed the model meanwhile. */
async function forwardToModel(
  deps: WidgetDeps,
  exchange: WidgetExchange,
  message: Message,
  reservation: Reservation,
): Promise<void> {
  const { widget, input } = message;
  const forwardTo = (model: string): Promise<void> =>
    forward(deps, exchange, message, upstreamBody(widget, input, model), reservation);
  try {
    await forwardTo(modelOf(widget, deps.clock));
  } catch (error) {
    if (!(error instanceof OtherModelError)) throw error;
    await forwardTo(modelOf(widget, deps.clock));
  }
}

function countedVisitor(
  { visitors, loops }: WidgetDeps,
  { address }: WidgetExchange,
  { widget: { row }, input: { session_id: given, messages }, sessionId: session }: Message,
): CountedVisitor {
  const names = visitors.namesOf({ widgetId: row.id, address, session });
  const visitorTexts = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
  return {
    names,
    limits: visitorLimits(row),
    isLoop: row.loopDetection && loops.isLoop(names, visitorTexts, given != null),
  };
}

/**
 * With several edges, counts the message against the limits that they share.
 * @throws WidgetRefusal, CallerGoneError
 */
async function takePlace(
  deps: WidgetDeps,
  exchange: WidgetExchange,
  { widget: { row, state } }: Message,
  { visitor, reservation }: { visitor: CountedVisitor; reservation: Reservation },
): Promise<void> {
  const { messages } = deps.limits;
  if (!messages) return;
  const question: MessageQuestion = {
    ...{ id: exchange.id, perDay: row.perDay, perMinute: row.perMinute },
    visitor: visitor.limits && { names: visitor.names, limits: visitor.limits },
    readAgain: () => deps.widgets.renew(row.publicKey),
    onRefused: () => reservation.release(),
  };
  const verdict = await messages.take(state, question);
  if (verdict.kind === 'ok') reservation.granted(question);
  requirePlace(verdict);
  if (exchange.gone) throw new CallerGoneError();
}

/** @throws AppError `widget_not_found`, RowUnavailableError, CallerGoneError */
export async function requireWidget(
  { widgets }: Pick<WidgetDeps, 'widgets'>,
  exchange: WidgetExchange,
  publicKey: unknown,
): Promise<WidgetEntry> {
  const hasForm = typeof publicKey === 'string' && hasPublicKeyForm(publicKey);
  const widget = hasForm ? await widgets.find(publicKey) : null;
  if (exchange.gone) throw new CallerGoneError();
  if (!widget) throw new AppError('widget_not_found');
  exchange.widget = widget;
  return widget;
}

/** Counts an outcome for the widget's owner, by site. */
export function countOutcome(
  { outcomes, sites, clock }: WidgetDeps,
  exchange: WidgetExchange,
  code: string,
  cost: Money = 0n,
): void {
  const { widget, origin } = exchange;
  if (!widget) return;
  const { id, accountId } = widget.row;
  const site = sites.nameOf(widget.row, siteOf(origin));
  outcomes.count({ accountId, keyId: id, code, model: site, at: clock.now(), cost });
}

const NO_FIELDS: ReadonlySet<string> = new Set();

async function forward(
  deps: WidgetDeps,
  exchange: WidgetExchange,
  message: Message,
  bytes: Buffer,
  reservation: Reservation,
): Promise<void> {
  const { widget } = message;
  const share = new BodyShare(deps.bodies, widget.account.id);
  exchange.response.on('close', () => share.release());
  try {
    share.receive(bytes.length);
    const input = { body: bytes, allowed: NO_FIELDS };
    const body = await deps.relay.json.read(widget.account.id, READ_REQUEST, input, () =>
      whileOpen(exchange.response),
    );
    const payer = { ...widget, requireBudget: (model: string) => requireBudget(widget, model, deps.clock) };
    const admission = await deps.limits.admit(payer, body, exchange.response, 'chat');
    try {
      requireBudget(widget, admission.model.publicName, deps.clock, admission.hold);
    } catch (error) {
      deps.limits.release(admission);
      throw error;
    }
    reservation.admitted();
    start(deps, exchange, message, { body, admission, share, reservation });
  } catch (error) {
    share.release();
    throw error;
  }
}

interface Admitted {
  body: InspectedBody;
  admission: Admission;
  share: BodyShare;
  reservation: Reservation;
}

function start(
  deps: WidgetDeps,
  { id, request, response, reader }: WidgetExchange,
  { widget, input, sessionId }: Message,
  { body, admission, share, reservation }: Admitted,
): void {
  const call = {
    ...{ id, endpoint: 'chat' as const, payer: widget, admission, body },
    promptVersionId: widget.row.promptVersionId,
    span: deps.tracing?.of(request),
  };
  const position = (input.offset ?? 0) + input.messages.length;
  const sink = new WidgetSink(
    new V1Sink(response, call, deps.reader, () => widgetHeaders(id, reader)),
    deps.relay.json,
    widget.account.id,
    {
      id,
      sessionId,
      sign: (content) => deps.history.sign({ widgetId: widget.row.id, sessionId, position, content }),
    },
  );
  const counted = new Call({ ...deps, meter: reservation.meter(deps.meter) }, call);
  const relay = new Relay(deps.relay, sink, counted, share, (over) => deps.active.delete(slot, over));
  const slot = deps.active.add(relay);
  relay.start();
}
