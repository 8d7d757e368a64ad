import { setTimeout as delay } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Catalog } from '../../../inference/catalog.js';
import type { TokenCounts } from '../../../inference/usage/usage.js';
import { isDatabaseOutage } from '../../../lib/database-outage.js';
import { FairQueue, type Leave } from '../../../lib/fair/fair-queue.js';
import type { Logger } from '../../../lib/logger.js';
import { formatMoney } from '../../../lib/money.js';
import type { Signals } from '../../live/signals.js';
import type { ContentKey } from '../content.js';
import type { RunOutput } from '../playground.outputs.js';
import { responseField } from '../playground.rules.js';
import { ABANDONED, beginRun, endRun, type RunEnd } from '../run-state.store.js';
import { Broadcast } from './broadcast.js';
import { keepLeases, type Leases } from './leases.js';
import { type LiveRun, LiveSession, liveRun } from './live-session.js';
import { type CallEnd, type ModelCalls, type OpenCall, usedTokens } from './model-calls.js';
import type { RunBus } from './run-bus.js';
import type { RunFailure } from './run-sink.js';

/** A session that was just stored, with what its runs need. */
export interface NewSession {
  id: string;
  accountId: string;
  key: ContentKey;
  authorization: string;
  /** As stored. */
  runs: readonly RunOutput[];
  /** The UTC day that they count toward, and what was reserved for each. */
  day: string;
  maxTokens: number;
  estimatedInputTokens: number;
  catalog: Catalog;
  bodyFor(model: string): Buffer;
}

export interface RunnerDeps {
  calls: ModelCalls;
  bus: RunBus;
  signals: Pick<Signals, 'onPlaygroundCancel'>;
  /** A new fork. */
  em(): EntityManager;
  log: Logger;
  /** Time for runs to end when the process stops; 15 s except in tests. */
  stopPatienceMs?: number | undefined;
}

/** Runs of this process that go upstream at once. The others wait, and accounts take turns. */
const RUNS_AT_ONCE = { atOnce: 256, perOwner: 8, partOfFree: 1 / 8 };
/** A longer run fails and frees its slot. */
const LONGEST_RUN_MS = 300_000;
const TOO_LONG: RunFailure = { code: 'upstream_timeout', message: 'The answer took longer than 5 minutes.' };
const STOPPED: RunFailure = {
  code: 'service_unavailable',
  message: 'The service is restarting. Run it again.',
};
/** Requests that wait for whole sessions: each holds one of the edge's 144 connections. */
const WAITING_REQUESTS = {
  ...{ atOnce: 32, partOfFree: 1 / 5 },
  // Others wait for one of these places.
  ...{ waiting: 32, waitingPerOwner: 16, patienceMs: 10_000 },
};
/** Time for runs to end when the process stops. */
const STOP_PATIENCE_MS = 15_000;
const WRITE_RETRY_MS = 500;
/** How long the outcome of a run is kept while the database is unavailable. */
const WRITE_PATIENCE_MS = 60_000;

interface Held {
  session: LiveSession;
  run: LiveRun;
  call: OpenCall | undefined;
  /** Why it has to end without an answer. */
  stop: 'cancelled' | RunFailure | undefined;
  stopped(): void;
}

/** Makes the runs of this process and tracks their progress. */
export class Runner {
  readonly #sessions = new Map<string, LiveSession>();
  readonly #held = new Map<string, Held>();
  readonly #queue = new FairQueue(RUNS_AT_ONCE);
  readonly #waiting = new FairQueue(WAITING_REQUESTS);
  readonly #broadcast: Broadcast;
  readonly #leases: Leases;
  readonly #leaveSignals: () => void;
  #stopping = false;

  constructor(private readonly deps: RunnerDeps) {
    this.#broadcast = new Broadcast(deps.bus);
    this.#leaveSignals = deps.signals.onPlaygroundCancel((ids) => this.cancel(ids));
    this.#leases = keepLeases({
      ...deps,
      held: () => [...this.#held.keys()],
      cancel: (ids) => this.cancel(ids),
    });
  }

  /** Whether the process is stopping: a run that starts now would be cut off. */
  get stopping(): boolean {
    return this.#stopping;
  }

  /** A session whose runs are in progress here. */
  live(sessionId: string): LiveSession | undefined {
    return this.#sessions.get(sessionId);
  }

  /**
   * Takes a place among the requests that wait for whole sessions, and waits for one if necessary. Returns a function that frees it;
   * undefined if there was none in time, too many wait, or `left` was aborted.
   */
  takePlace(accountId: string, left: AbortSignal): Promise<Leave | undefined> {
    if (left.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const none = (): void => {
        left.removeEventListener('abort', none);
        stopWaiting();
        resolve(undefined);
      };
      const take = (leave: Leave): void => {
        left.removeEventListener('abort', none);
        resolve(leave);
      };
      left.addEventListener('abort', none);
      let stopWaiting: Leave = () => undefined;
      stopWaiting = this.#waiting.join(accountId, take, none);
    });
  }

  /** Starts the runs of a session and returns at once. */
  begin(input: NewSession): LiveSession {
    const session = new LiveSession(input.id, input.accountId, input.runs.map(liveRun));
    this.#sessions.set(session.id, session);
    this.#broadcast.add(session, input.key);
    for (const [index, run] of session.runs.entries())
      void this.#make(session, run, input, input.runs[index]!);
    void session.ended().then(() => {
      this.#sessions.delete(session.id);
      this.#broadcast.remove(session);
    });
    return session;
  }

  /** Cancels runs. Ignores those of other processes. */
  cancel(runIds: readonly string[]): void {
    for (const id of runIds) {
      const held = this.#held.get(id);
      if (held) stopRun(held, 'cancelled');
    }
  }

  /** Waits a while for runs to end, then ends the others. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const all = Promise.all([...this.#sessions.values()].map((session) => session.ended()));
    await Promise.race([all, delay(this.deps.stopPatienceMs ?? STOP_PATIENCE_MS, undefined, { ref: false })]);
    for (const held of this.#held.values()) stopRun(held, STOPPED);
    await all;
    this.#leaveSignals();
    await this.#leases.stop();
    this.#broadcast.stop();
    this.deps.bus.stop();
  }

  /** Makes one run until its end. Never rejects. */
  async #make(session: LiveSession, run: LiveRun, input: NewSession, written: RunOutput): Promise<void> {
    const { promise: stopped, resolve } = Promise.withResolvers<void>();
    const held: Held = { session, run, call: undefined, stop: undefined, stopped: resolve };
    this.#held.set(run.id, held);
    try {
      const end = await this.#inTurn(held, input, stopped);
      session.end(run, await this.#write(run, input, written, end));
    } catch (error) {
      this.deps.log.error({ err: error, runId: run.id }, 'a run of the model playground failed');
      session.end(run, {
        ...written,
        status: 'error',
        error_code: 'internal_error',
        error_message: 'Something went wrong on our side. It has been logged.',
      });
    } finally {
      this.#held.delete(run.id);
    }
  }

  async #inTurn(held: Held, input: NewSession, stopped: Promise<void>): Promise<CallEnd> {
    const turn = Promise.withResolvers<void>();
    const leave = this.#queue.join(input.accountId, () => turn.resolve(), turn.reject);
    try {
      await Promise.race([turn.promise, stopped]);
      return held.stop ? unmade(held.stop) : await this.#call(held, input);
    } finally {
      leave();
    }
  }

  async #call(held: Held, { accountId, authorization, catalog, bodyFor }: NewSession): Promise<CallEnd> {
    const { session, run } = held;
    run.status = 'running';
    session.changed();
    this.#tryTo(() => beginRun(this.deps.em(), run.id));
    const call = { accountId, authorization, catalog, model: run.model, body: bodyFor(run.model) };
    held.call = this.deps.calls.begin(call, (text, ttftMs) => {
      run.ttftMs ??= ttftMs;
      run.text += text;
      session.changed();
    });
    const limit = setTimeout(() => stopRun(held, TOO_LONG), LONGEST_RUN_MS).unref();
    try {
      return await held.call.ended;
    } finally {
      clearTimeout(limit);
    }
  }

  /** Records the outcome of a run and returns the run with it. */
  async #write(run: LiveRun, input: NewSession, written: RunOutput, end: CallEnd): Promise<RunOutput> {
    const { id, text } = run;
    const row: RunEnd = {
      status: end.status,
      servedModel: end.servedModel,
      responseSealed:
        text === '' && end.status !== 'success'
          ? null
          : input.key.seal(text, responseField(input.accountId, id)),
      finishReason: end.finishReason,
      errorCode: end.failure?.code ?? null,
      errorMessage: end.failure?.message ?? null,
      latencyMs: end.latencyMs,
      ttftMs: end.ttftMs,
      inputTokens: end.inputTokens,
      outputTokens: end.outputTokens,
      listCostUsd: formatMoney(end.listCost),
    };
    const used = usedTokens(end, text, input.estimatedInputTokens);
    // Its deletion has cancelled the run; followers still get its outcome.
    if ((await this.#persist({ ...input, id }, row, used)) === 'given up') {
      return { ...written, status: 'error', error_code: ABANDONED.code, error_message: ABANDONED.message };
    }
    return {
      ...written,
      status: row.status,
      served_model_public_name: row.servedModel,
      response_content: row.responseSealed === null ? null : text,
      finish_reason: row.finishReason,
      latency_ms: row.latencyMs,
      ttft_ms: row.ttftMs,
      input_tokens: row.inputTokens,
      output_tokens: row.outputTokens,
      list_cost_usd: row.listCostUsd,
      error_code: row.errorCode,
      error_message: row.errorMessage,
    };
  }

  /** Retries for a while if the database is unavailable. The lease may expire in the meantime. */
  async #persist(
    run: Parameters<typeof endRun>[1],
    row: RunEnd,
    used: TokenCounts,
  ): ReturnType<typeof endRun> {
    for (const giveUpAt = performance.now() + WRITE_PATIENCE_MS; ; ) {
      try {
        return await endRun(this.deps.em(), run, row, used);
      } catch (error) {
        if (this.#stopping || !isDatabaseOutage(error) || performance.now() > giveUpAt) throw error;
        await delay(WRITE_RETRY_MS, undefined, { ref: false });
      }
    }
  }

  #tryTo(write: () => Promise<void>): void {
    write().catch((error: unknown) =>
      this.deps.log.debug({ err: error }, 'failed to record the start of a run'),
    );
  }
}

function stopRun(held: Held, why: 'cancelled' | RunFailure): void {
  if (held.stop) return;
  held.stop = why;
  held.stopped();
  if (why === 'cancelled') held.call?.cancel();
  else held.call?.fail(why);
}

/** The outcome of a run that never went upstream. */
const unmade = (stop: Held['stop']): CallEnd => ({
  status: stop === 'cancelled' ? 'cancelled' : 'error',
  servedModel: null,
  finishReason: null,
  failure: stop === 'cancelled' ? undefined : stop,
  latencyMs: 0,
  ttftMs: null,
  inputTokens: 0,
  outputTokens: 0,
  listCost: 0n,
  sent: false,
});
