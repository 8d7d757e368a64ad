import { performance } from 'node:perf_hooks';
import { type ErrorCode, errorTable } from '../errors.js';
import type { Clock } from '../lib/clock.js';
import { costOf } from '../lib/money.js';
import type { Span } from '../lib/tracing/tracing.js';
import type { ServedBy } from '../lib/upstream/served-by.js';
import type { Endpoint, Meter, OpenIntent, UsageRecord } from '../metering/usage-record.js';
import type { CallMetrics } from './call-metrics.js';
import type { Catalog, CatalogModel } from './catalog.js';
import type { Admission, Limits } from './limits/limits.js';
import { credentialIdOf, type Payer } from './payer.js';
import { ownerMessage } from './relay/owner-message.js';
import type { InspectedBody } from './request/request-body.js';
import { estimateInputTokens, missedInput, readUsage, type TokenCounts } from './usage/usage.js';

export interface CallDeps {
  limits: Pick<Limits, 'settle' | 'writeOff'>;
  meter: Pick<Meter, 'begin' | 'finish'>;
  clock: Clock;
  catalog: Catalog;
  metrics: CallMetrics;
}

export interface CallInput {
  id: string;
  endpoint: Endpoint;
  payer: Payer;
  admission: Admission;
  body: InspectedBody;
  /** The version of a prompt that the call used, according to the caller. */
  promptVersionId: string | null;
  /** The span that traces the call, if it is traced. */
  span?: Span | undefined;
}

/** The end of a call that is charged, at the served model's price. */
export interface CallSuccess {
  /** The upstream's `usage`, unchecked. */
  usage: unknown;
  /** Output tokens to charge if `usage` is missing or odd. More than 0 makes a reported zero anomalous. */
  estimateOutput(): number;
  /** Fewest output tokens that `usage` must report to be believed, since it may not cover the whole answer. */
  leastOutput?: number;
  servedModel: string;
  clientAborted?: boolean;
  /** Whether the client left before the upstream could report its usage. */
  countMissed?: boolean;
}

export interface CallFailure {
  code: string;
  httpStatus: number;
  /** The message that the caller receives, if it differs from the code's own. */
  message?: string | undefined;
  clientAborted?: boolean;
}

/** The end of a call whose client left before anything was generated. */
export const CLIENT_LEFT: CallFailure = {
  code: 'client_closed_request',
  httpStatus: 499,
  message: 'The client disconnected before there was an answer.',
  clientAborted: true,
};

/** The message to store for the owner. A node's refusal may quote the request, so only known words and `names` are kept. */
function keptMessage(failure: CallFailure, names: readonly string[]): string {
  const { code, message } = failure;
  const generic = genericMessage(failure);
  return code === 'invalid_request' ? ownerMessage(message, generic, names) : (message ?? generic);
}

/** Nodes send one chunk per token. Two are unusual, but still accepted. */
const CHUNKS_PER_TOKEN = 2;
const SPARE_CHUNKS = 1_000;
/** Longest name of a model in a trace. */
const LONGEST_NAME = 100;

/** Whether the upstream reports zero tokens although something was generated. */
const reportsNothing = (
  { inputTokens, outputTokens }: TokenCounts,
  endpoint: Endpoint,
  success: CallSuccess,
): boolean =>
  inputTokens === 0 && outputTokens === 0 && (endpoint === 'embeddings' || success.estimateOutput() > 0);

type Outcome = Pick<
  UsageRecord,
  | 'inputTokens'
  | 'outputTokens'
  | 'cost'
  | 'status'
  | 'errorCode'
  | 'errorMessage'
  | 'httpStatus'
  | 'clientAborted'
  | 'estimated'
  | 'anomalous'
>;

/** One forwarded call: its intent, its hold, and its one usage event. */
export class Call {
  readonly #startedAt = performance.now();
  #firstTokenMs: number | null = null;
  #settled = false;
  #servedBy: ServedBy | undefined;
  readonly #opened: OpenIntent;

  constructor(
    private readonly deps: CallDeps,
    readonly input: CallInput,
  ) {
    const { id, endpoint, payer, body, promptVersionId } = input;
    this.#opened = deps.meter.begin({
      id,
      at: deps.clock.now(),
      accountId: payer.account.id,
      keyId: credentialIdOf(payer.credential, 'api_key'),
      widgetId: credentialIdOf(payer.credential, 'widget'),
      requestedModel: body.model,
      movedTo: body.movedTo,
      endpoint,
      stream: body.stream,
      promptVersionId,
    });
  }

  get settled(): boolean {
    return this.#settled;
  }

  /** Time to the first token of a stream, shown or not; null until then. */
  get firstTokenMs(): number | null {
    return this.#firstTokenMs;
  }

  /** Notes a token of a stream; only the first one counts. */
  noteToken(): void {
    this.#firstTokenMs ??= Math.round(performance.now() - this.#startedAt);
  }

  /** Notes which deployment answers; undefined if the upstream doesn't name it. */
  servedBy(deployment: ServedBy | undefined): void {
    this.#servedBy = deployment;
  }

  /** Whether a stream has more chunks than any answer to this call can have. */
  isEndless(servedModel: string, chunks: number): boolean {
    const { body, admission } = this.input;
    const served = this.deps.catalog.get(servedModel)?.contextWindow ?? 0;
    const window = Math.max(served, admission.model.contextWindow);
    const most = Math.min(body.maxTokens ?? window, window) * body.candidates;
    return chunks > CHUNKS_PER_TOKEN * most + SPARE_CHUNKS;
  }

  /** Charges the call. `written` is called once the event is stored; then the last byte of the answer may be sent. */
  succeed(success: CallSuccess, written: (error?: Error) => void): void {
    const { endpoint, body, admission } = this.input;
    const reported = readUsage(success.usage, endpoint);
    const model = this.deps.catalog.get(success.servedModel) ?? admission.model;
    const isComplete = reported !== undefined && reported.outputTokens >= (success.leastOutput ?? 0);
    const tokens: TokenCounts = isComplete ? reported : this.#estimate(reported, model, success);
    const isUncounted = isComplete && reportsNothing(reported, endpoint, success);
    if (isUncounted) this.deps.metrics.uncounted(this.#servedBy?.deployment);
    this.#settle(
      this.#record(model, {
        inputTokens: tokens.inputTokens,
        outputTokens: tokens.outputTokens,
        cost: costOf(tokens.inputTokens, tokens.outputTokens, model.priceIn, model.priceOut),
        status: 'success',
        errorCode: null,
        errorMessage: null,
        httpStatus: 200,
        clientAborted: success.clientAborted ?? false,
        estimated: !isComplete,
        anomalous:
          isUncounted ||
          tokens.inputTokens > Math.max(model.contextWindow, body.input.batchTokens) ||
          tokens.outputTokens > model.contextWindow * body.candidates,
      }),
      written,
    );
  }

  /** Estimates tokens without a final usage: at most what the call could have generated, which the hold covers. */
  #estimate(early: TokenCounts | undefined, model: CatalogModel, success: CallSuccess): TokenCounts {
    const { endpoint, body } = this.input;
    const { contextWindow } = model;
    const most = Math.min(body.maxTokens ?? contextWindow, contextWindow) * body.candidates;
    const estimateOf = success.countMissed ? missedInput : estimateInputTokens;
    return {
      inputTokens: early?.inputTokens || estimateOf(body.input, endpoint, contextWindow),
      outputTokens: Math.min(success.estimateOutput(), most),
    };
  }

  /** Records a failed call, which is free. */
  fail(failure: CallFailure, written: (error?: Error) => void): void {
    const { admission, body } = this.input;
    this.#settle(
      this.#record(admission.model, {
        inputTokens: 0,
        outputTokens: 0,
        cost: 0n,
        status: 'error',
        errorCode: failure.code,
        errorMessage: keptMessage(failure, [body.model, admission.model.publicName]),
        httpStatus: failure.httpStatus,
        clientAborted: failure.clientAborted ?? false,
        estimated: false,
        anomalous: false,
      }),
      written,
    );
  }

  // One literal with every field, since spreading objects together takes three times as long.
  #record(model: CatalogModel, outcome: Outcome): UsageRecord {
    const { id, endpoint, payer, body, promptVersionId } = this.input;
    return {
      id,
      createdAt: this.deps.clock.now(),
      accountId: payer.account.id,
      keyId: credentialIdOf(payer.credential, 'api_key'),
      widgetId: credentialIdOf(payer.credential, 'widget'),
      requestedModel: body.model,
      movedTo: body.movedTo,
      servedModel: model.publicName,
      endpoint,
      stream: body.stream,
      inputTokens: outcome.inputTokens,
      outputTokens: outcome.outputTokens,
      priceIn: model.priceIn,
      priceOut: model.priceOut,
      cost: outcome.cost,
      latencyMs: Math.round(performance.now() - this.#startedAt),
      ttftMs: this.#firstTokenMs,
      status: outcome.status,
      errorCode: outcome.errorCode,
      errorMessage: outcome.errorMessage,
      httpStatus: outcome.httpStatus,
      clientAborted: outcome.clientAborted,
      estimated: outcome.estimated,
      anomalous: outcome.anomalous,
      promptVersionId,
      deployment: this.#servedBy?.deployment ?? null,
      nodeId: this.#servedBy?.nodeId ?? null,
      nodeCalls: this.#servedBy?.nodeCalls ?? null,
    };
  }

  /** Turns the hold into a pending charge in one step, so that at any moment one of them counts. */
  #settle(record: UsageRecord, written: (error?: Error) => void): void {
    if (this.#settled) return;
    this.#settled = true;
    const { admission } = this.input;
    this.deps.limits.settle(admission, record.cost, record.createdAt);
    this.deps.metrics.recorded(record);
    if (this.input.span) describe(this.input.span, record);
    this.deps.meter.finish(
      record,
      (error) => {
        // An event that couldn't be stored will not be charged.
        if (error) this.deps.limits.writeOff(admission, record.cost, record.createdAt);
        written(error);
      },
      this.#opened,
    );
  }
}

/** Our own message for a failure's code, with the remedy. */
const genericMessage = ({ code, message }: CallFailure): string =>
  errorTable[code as ErrorCode]?.message ?? message ?? code;

/** Adds the call's attributes to its span, by OpenTelemetry's conventions and without its content and owner. */
function describe(span: Span, record: UsageRecord): void {
  span.note({
    'gen_ai.request.model': record.requestedModel.slice(0, LONGEST_NAME),
    'gen_ai.response.model': record.servedModel,
    'gen_ai.usage.input_tokens': record.inputTokens,
    'gen_ai.usage.output_tokens': record.outputTokens,
    'gateway.stream': record.stream,
    'gateway.first_token_ms': record.ttftMs,
    'gateway.request_id': record.id,
    'error.type': record.errorCode,
  });
}
