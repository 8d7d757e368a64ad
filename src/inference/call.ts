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
  /** The version of a prompt that the caller says it has sent. */
  promptVersionId: string | null;
  /** What traces it, where anything does. */
  span?: Span | undefined;
}

/** A call that counts: its tokens are charged at the served model's price. */
export interface CallSuccess {
  /** The upstream's `usage`, unchecked. */
  usage: unknown;
  /** Output tokens to charge when that is missing or odd; what was generated makes a count of zero anomalous. */
  estimateOutput(): number;
  /** Fewest output tokens to charge, when the usage may not cover the whole answer. */
  leastOutput?: number;
  servedModel: string;
  clientAborted?: boolean;
  /** The client left before the upstream could report what it had counted. */
  countMissed?: boolean;
}

export interface CallFailure {
  code: string;
  httpStatus: number;
  /** The message that the caller receives, if it differs from the code's own. */
  message?: string | undefined;
  clientAborted?: boolean;
}

/** The end of a call whose client left before there was anything to charge. */
export const CLIENT_LEFT: CallFailure = {
  code: 'client_closed_request',
  httpStatus: 499,
  message: 'The client disconnected before there was an answer.',
  clientAborted: true,
};

/** What the owner may keep of a failure's message. A node's refusal may quote the request: only known words and `names` are kept. */
function keptMessage(failure: CallFailure, names: readonly string[]): string {
  const { code, message } = failure;
  const generic = ownWords(failure);
  return code === 'invalid_request' ? ownerMessage(message, generic, names) : (message ?? generic);
}

/** Nodes send one for each token. Half a token more in a chunk of its own is odd, but no fault. */
const CHUNKS_PER_TOKEN = 2;
const SPARE_CHUNKS = 1_000;
/** Of a model's name in a trace. */
const LONGEST_NAME = 100;

/** Whether zero tokens are reported although there were some: no prompt is empty. */
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

  /** Time to the first token of a stream, shown or not; null before it has come. */
  get firstTokenMs(): number | null {
    return this.#firstTokenMs;
  }

  /** Notes the first token of a stream. */
  firstToken(): void {
    this.#firstTokenMs ??= Math.round(performance.now() - this.#startedAt);
  }

  /** Notes which deployment answers; nothing where the upstream doesn't say. */
  servedBy(deployment: ServedBy | undefined): void {
    this.#servedBy = deployment;
  }

  /** Whether a stream has more chunks than any answer to this call: its node goes on without end. */
  isEndless(servedModel: string, chunks: number): boolean {
    const { body, admission } = this.input;
    const served = this.deps.catalog.get(servedModel)?.contextWindow ?? 0;
    const window = Math.max(served, admission.model.contextWindow);
    const most = Math.min(body.maxTokens ?? window, window) * body.candidates;
    return chunks > CHUNKS_PER_TOKEN * most + SPARE_CHUNKS;
  }

  /** Charges the call. `written` runs once the event is kept; the answer's last byte leaves from there. */
  succeed(success: CallSuccess, written: (error?: Error) => void): void {
    const { endpoint, body, admission } = this.input;
    const reported = readUsage(success.usage, endpoint);
    const model = this.deps.catalog.get(success.servedModel) ?? admission.model;
    const told = reported !== undefined && reported.outputTokens >= (success.leastOutput ?? 0);
    const tokens: TokenCounts = told ? reported : this.#estimate(reported, model, success);
    const isUncounted = told && reportsNothing(reported, endpoint, success);
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
        estimated: !told,
        anomalous:
          isUncounted ||
          tokens.inputTokens > Math.max(model.contextWindow, body.input.batchTokens) ||
          tokens.outputTokens > model.contextWindow * body.candidates,
      }),
      written,
    );
  }

  /** What counts for want of a final usage: never more than the call could have generated, which is what was held. */
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

  /** Records a call that is free, since who receives an error pays nothing. */
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

  // One literal with every field: a record that is spread together costs three times as much.
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

  /** Turns the hold into a pending charge in one step, so that no moment shows neither. */
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
        // What could not be kept will not be charged.
        if (error) this.deps.limits.writeOff(admission, record.cost, record.createdAt);
        written(error);
      },
      this.#opened,
    );
  }
}

/** Our message for a failure: its code's, with the remedy. */
const ownWords = ({ code, message }: CallFailure): string =>
  errorTable[code as ErrorCode]?.message ?? message ?? code;

/** Trace attributes of a call, by OpenTelemetry's conventions: neither its content nor its owner. */
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
