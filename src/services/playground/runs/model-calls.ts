import { performance } from 'node:perf_hooks';
import type { Registry } from 'prom-client';
import type { Config } from '../../../config.js';
import { AppError, errorTable } from '../../../errors.js';
import { Call } from '../../../inference/call.js';
import type { CallMetrics } from '../../../inference/call-metrics.js';
import type { Catalog } from '../../../inference/catalog.js';
import { AccountState } from '../../../inference/limits/account-state.js';
import { Admission, type ClientConnection } from '../../../inference/limits/limits.js';
import { PeriodSpend } from '../../../inference/limits/period-spend.js';
import { BodyBudget, BodyShare } from '../../../inference/memory/body-budget.js';
import type { Payer } from '../../../inference/payer.js';
import { Relay } from '../../../inference/relay/relay.js';
import { READ_REQUEST } from '../../../inference/request/read-request.js';
import type { InspectedBody } from '../../../inference/request/request-body.js';
import { estimateTokens, type TokenCounts } from '../../../inference/usage/usage.js';
import type { Clock } from '../../../lib/clock.js';
import { newId } from '../../../lib/ids.js';
import type { JsonReader } from '../../../lib/json-reader.js';
import type { Money } from '../../../lib/money.js';
import { activeSpan } from '../../../lib/tracing/active-span.js';
import type { Upstream } from '../../../lib/upstream/upstream.js';
import type { CallTimeouts } from '../../../lib/upstream/upstream-handler.js';
import type { Meter, UsageRecord } from '../../../metering/usage-record.js';
import { createRunMetrics, type RunMetrics } from './run-metrics.js';
import { type RunFailure, RunSink } from './run-sink.js';

/** One prompt for one model. */
export interface ModelCall {
  accountId: string;
  /** `Bearer <virtual key>` of the account. */
  authorization: string;
  model: string;
  body: Buffer;
  /** Models and their prices at the start of the session. */
  catalog: Catalog;
}

/** The outcome of a call. */
export interface CallEnd {
  status: 'success' | 'error' | 'cancelled';
  servedModel: string | null;
  finishReason: string | null;
  failure: RunFailure | undefined;
  latencyMs: number;
  /** Time to the first token, which may be part of the reasoning; null if there was none. */
  ttftMs: number | null;
  inputTokens: number;
  outputTokens: number;
  listCost: Money;
  /** Whether the prompt was sent to the model. */
  sent: boolean;
}

/** Receives an answer in pieces, with the call's time to first token. */
type OnText = (text: string, ttftMs: number | null) => void;

export interface OpenCall {
  ended: Promise<CallEnd>;
  /** Cancels the call; the upstream is cut at once. */
  cancel(): void;
  /** Ends the call as our failure. */
  fail(failure: RunFailure): void;
}

const MIB = 1024 * 1024;
/** Memory for prompts on their way; the largest has about 600 KiB. */
const BODY_BOUNDS = { smallBodyBytes: 16 * MIB, largeBodyBytes: 64 * MIB, answerBytes: 0 };
/** Far above any answer of 4,096 tokens. */
const LONGEST_ANSWER = 200_000;
const ENDLESS: RunFailure = { code: 'upstream_error', message: 'The model sent an endless answer.' };

/** Runs are never refused for their cost, and no connection waits for them. */
const NO_LIMITS = { settle: () => undefined, writeOff: () => undefined };
const NO_CLIENT: ClientConnection = {
  destroyed: false,
  once: () => undefined,
  removeListener: () => undefined,
};

/** Makes calls for the playground: like a call at the edge, without admission and without a charge. */
export class ModelCalls {
  readonly #timeouts: CallTimeouts;
  readonly #bodies = new BodyBudget(BODY_BOUNDS);
  readonly #metrics: RunMetrics;

  constructor(
    private readonly upstream: Upstream,
    private readonly json: JsonReader,
    config: Pick<Config, 'upstreamTimeoutMs' | 'upstreamIdleMs'>,
    private readonly clock: Clock,
    registry: Registry,
  ) {
    this.#timeouts = { headersTimeoutMs: config.upstreamTimeoutMs, bodyTimeoutMs: config.upstreamIdleMs };
    this.#metrics = createRunMetrics(registry);
  }

  /** Starts a call. It always ends, and never rejects. */
  begin(call: ModelCall, onText: OnText): OpenCall {
    const open = new RunningCall(call, onText, {
      upstream: this.upstream,
      timeouts: this.#timeouts,
      json: this.json,
      bodies: this.#bodies,
      clock: this.clock,
      metrics: this.#metrics.ofCalls,
    });
    const ended = open.ended.then((end) => {
      this.#metrics.ended(end.status);
      return end;
    });
    open.start();
    return { ended, cancel: () => open.cancel(), fail: (failure) => open.fail(failure) };
  }
}

interface CallRoom {
  upstream: Upstream;
  timeouts: CallTimeouts;
  json: JsonReader;
  bodies: BodyBudget;
  clock: Clock;
  metrics: CallMetrics;
}

const NO_FIELDS: ReadonlySet<string> = new Set();

class RunningCall {
  readonly ended: Promise<CallEnd>;
  readonly #end: (end: CallEnd) => void;
  readonly #recipient: RunSink;
  readonly #share: BodyShare;
  readonly #began = performance.now();
  #counted: Call | undefined;
  #record: UsageRecord | undefined;
  #cancelled = false;
  #failure: RunFailure | undefined;
  #length = 0;
  #sent = false;
  /** A span of the request that asked for the run. */
  readonly #span = activeSpan()?.child('model call');

  constructor(
    private readonly call: ModelCall,
    onText: OnText,
    private readonly room: CallRoom,
  ) {
    const { promise, resolve } = Promise.withResolvers<CallEnd>();
    this.ended = promise;
    this.#end = resolve;
    this.#share = new BodyShare(room.bodies, call.accountId);
    this.#recipient = new RunSink((text) => {
      // Text after the limit or a cancellation, in the same read.
      if (this.#recipient.gone) return;
      this.#length += text.length;
      if (this.#length > LONGEST_ANSWER) setImmediate(() => this.fail(ENDLESS));
      else onText(text, this.#counted?.firstTokenMs ?? null);
    });
  }

  start(): void {
    const { body, accountId } = this.call;
    try {
      this.#share.receive(body.length);
    } catch (error) {
      this.#refuse(error);
      return;
    }
    this.#read(accountId, body)
      .then((inspected) => {
        if (this.#cancelled || this.#failure) this.#over();
        else this.#send(inspected);
      })
      .catch((error: unknown) => this.#refuse(error));
  }

  async #read(accountId: string, body: Buffer): Promise<InspectedBody> {
    return this.room.json.read(accountId, READ_REQUEST, { body, allowed: NO_FIELDS });
  }

  cancel(): void {
    this.#cancelled = true;
    this.#recipient.leave();
  }

  fail(failure: RunFailure): void {
    this.#failure ??= failure;
    this.#recipient.leave();
  }

  #send(body: InspectedBody): void {
    this.#sent = true;
    const { call, room } = this;
    const input = {
      id: newId(),
      endpoint: 'chat' as const,
      ...this.#admitted(),
      body,
      promptVersionId: null,
      span: this.#span,
    };
    const meter: Pick<Meter, 'begin' | 'finish'> = {
      begin: (intent) => ({ intent, slot: 0 }),
      // Nothing is metered: the record describes the run and what it would have cost.
      finish: (record, written) => {
        this.#record = record;
        written();
      },
    };
    const { catalog } = call;
    const counted = new Call(
      { limits: NO_LIMITS, meter, clock: room.clock, catalog, metrics: room.metrics },
      input,
    );
    this.#counted = counted;
    const { upstream, timeouts, metrics, json } = room;
    const deps = { upstream, timeouts, catalog, metrics, json };
    new Relay(deps, this.#recipient, counted, this.#share, () => this.#over()).start();
  }

  #admitted(): { payer: Payer; admission: Admission } {
    const { accountId, authorization, model, catalog } = this.call;
    const payer: Payer = {
      credential: { kind: 'playground', id: accountId },
      hash: '',
      account: new AccountState(accountId, 0n, 0n, 0),
      allowedModels: new Set([model]),
      authorization,
      dailyLimit: null,
      day: new PeriodSpend(),
    };
    return { payer, admission: new Admission(payer, NO_CLIENT, catalog.get(model)!, authorization, 0n) };
  }

  #refuse(error: unknown): void {
    const code = error instanceof AppError ? error.code : 'internal_error';
    const message = error instanceof AppError ? error.message : errorTable.internal_error.message;
    this.#failure ??= { code, message };
    this.#over();
  }

  #over(): void {
    this.#share.release();
    const record = this.#record;
    this.#span?.end(record?.status === 'error');
    const failure = this.#failure ?? this.#recipient.failure;
    const isWhole = record?.status === 'success' && !record.clientAborted;
    const status = isWhole ? 'success' : this.#cancelled ? 'cancelled' : 'error';
    this.#end({
      status,
      servedModel: record?.status === 'success' ? record.servedModel : null,
      finishReason: this.#recipient.finishReason,
      failure: status === 'error' ? (failure ?? asFailure(record)) : undefined,
      latencyMs: Math.round(performance.now() - this.#began),
      ttftMs: this.#counted?.firstTokenMs ?? null,
      inputTokens: record?.inputTokens ?? 0,
      outputTokens: record?.outputTokens ?? 0,
      listCost: record?.cost ?? 0n,
      sent: this.#sent,
    });
  }
}

/** The failure of a call without an error message. */
function asFailure(record: UsageRecord | undefined): RunFailure {
  const code = (record?.errorCode ?? 'internal_error') as keyof typeof errorTable;
  const known = Object.hasOwn(errorTable, code) ? code : 'internal_error';
  return { code: known, message: errorTable[known].message };
}

/**
 * Tokens that count toward an account's day. If a run was cancelled or failed before its usage was reported, the
 * prompt and the generated text are estimated.
 */
export function usedTokens(end: CallEnd, text: string, estimatedTokens: number): TokenCounts {
  const { status, sent, inputTokens, outputTokens } = end;
  if (status === 'success' || !sent || (status === 'error' && text === '')) return end;
  return {
    inputTokens: Math.max(inputTokens, estimatedTokens),
    outputTokens: Math.max(outputTokens, estimateTokens(Buffer.byteLength(text))),
  };
}
