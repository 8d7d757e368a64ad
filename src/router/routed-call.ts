import type { Span } from '../lib/tracing/tracing.js';
import type { ServedBy } from '../lib/upstream/served-by.js';
import { within } from '../lib/within.js';
import { bodyOf, type ProxyError, tableError } from './answers.js';
import type { Attempt, AttemptEnd } from './attempt.js';
import type { Attempts } from './attempts.js';
import type { Candidate, Group, Random } from './group.js';
import type { Health } from './health.js';
import type { Host } from './node-gate.js';
import type { BoundFields } from './output-bound.js';
import type { ProxyRequest } from './request.js';
import type { Router } from './router.js';
import type { RouterMetrics } from './router-metrics.js';
import type { RouterSink } from './router-sink.js';
import type { Deployment } from './routing.js';
import type { ProxyTime } from './time.js';

export interface RouterTimeouts {
  /** Milliseconds to the first byte of one try where the deployment doesn't say. */
  firstByteMs: number;
  /** The same for the whole call, including retries and pauses: no one waits longer for an answer. */
  totalMs: number;
  /** Milliseconds without a byte moving; a deployment may say less. */
  idleMs: number;
}

export interface RoutedCallDeps {
  /** The routing in force; it may change between two tries. */
  router(): Router;
  relay: Attempts;
  time: ProxyTime;
  random: Random;
  metrics: RouterMetrics;
  timeouts(): RouterTimeouts;
}

type FailedEnd = Extract<AttemptEnd, { kind: 'failed' | 'broken' }>;
/** `hopeless`: no other node could do better. The node serves others and this answer alone took too long, or we lack something. */
type TryEnd = AttemptEnd | { kind: 'hopeless'; error: ProxyError };

/**
 * How a call ended, for metrics: `ok`, `client_gone`, `stream_broken`, `answer_too_large`, `upstream_400` and its like, or
 * an error code.
 */
export type CallOutcome = string;

const NONE: ReadonlySet<Health> = new Set();
const MS_PER_SECOND = 1000;
const FAIR_SHARE = 0.9;
/** Nobody knows when an administrator lets a node take calls again. */
const CLOSED_RETRY_MS = 60_000;
const NOTHING = Buffer.alloc(0);

const servedBy = ({ storableName }: Deployment, { nodeId, calls }: Host): ServedBy | undefined =>
  storableName === undefined
    ? undefined
    : { deployment: storableName, nodeId: nodeId ?? null, nodeCalls: calls };

/** One call on its way through the deployments that may answer it. */
export class RoutedCall {
  readonly #deadline: number;
  #attempt: Attempt | undefined;
  #gone: boolean;
  /** Ends a pause when the caller leaves. */
  #leaving: AbortController | undefined;
  /** Why the last try failed. */
  #error: ProxyError | undefined;

  constructor(
    private readonly deps: RoutedCallDeps,
    private readonly asked: ProxyRequest,
    private readonly caller: RouterSink,
    private readonly span?: Span,
  ) {
    this.#deadline = deps.time.now() + deps.timeouts().totalMs;
    this.#gone = caller.gone;
    caller.onLeft(() => {
      this.#gone = true;
      this.#attempt?.abandon();
      this.#leaving?.abort();
    });
    caller.onDrain(() => this.#attempt?.resume());
  }

  /**
   * Answers the caller, with as many tries as the settings allow: in the model's own group, and in its fallbacks while
   * the whole group is parked. Never throws.
   */
  async run(): Promise<CallOutcome> {
    const line = this.deps.router().line(this.asked.model);
    for (const group of line) {
      const outcome = await this.#tryGroup(group.name);
      if (outcome === undefined) continue;
      if (outcome === 'ok' && group !== line[0]) this.deps.metrics.fellBack(this.asked.model, group.name);
      return outcome;
    }
    return this.#answer(this.#error ?? this.#unavailable(line));
  }

  /** Tries one group; undefined if all of it is parked, so that a fallback can answer. */
  async #tryGroup(name: string): Promise<CallOutcome | undefined> {
    // By their health, which they keep when the routing file is read again.
    let tried = NONE as Set<Health>;
    for (let retries = 0; ; retries++) {
      const router = this.deps.router();
      const group = router.line(name)[0];
      const candidate = group && (await this.#next(group, tried, router.settings.retryAfterMs));
      if (this.#gone) return 'client_gone';
      if (!candidate) return group && !group.isParked(this.deps.time.now()) ? this.#giveUp() : undefined;
      const end = await this.#ask(candidate);
      if (end.kind === 'ok') return 'ok';
      if (end.kind === 'refused') return this.#refuse(end);
      if (end.kind === 'client_gone') return 'client_gone';
      if (end.kind === 'broken') return 'stream_broken';
      if (end.kind === 'too_large') return 'answer_too_large';
      this.#error = end.error;
      if (end.kind === 'hopeless') return this.#giveUp();
      if (retries >= router.settings.numRetries) {
        return group.isParked(this.deps.time.now()) ? undefined : this.#giveUp();
      }
      if (tried === NONE) tried = new Set();
      tried.add(candidate.health);
    }
  }

  /** At once another healthy deployment; when only ones that have failed this call are left, one of them after the pause. */
  async #next(
    group: Group,
    tried: ReadonlySet<Health>,
    retryAfterMs: number,
  ): Promise<Candidate | undefined> {
    const { time, random } = this.deps;
    const now = time.now();
    if (this.#gone || (this.#error && now >= this.#deadline)) return undefined;
    const fresh = group.pick(now, random, tried);
    if (fresh || tried.size === 0 || group.isParked(now)) return fresh;
    if (now + retryAfterMs >= this.#deadline) return undefined;
    this.#leaving = new AbortController();
    await time.pause(retryAfterMs, this.#leaving.signal).catch(() => undefined);
    this.#leaving = undefined;
    return group.pick(time.now(), random, NONE);
  }

  /** Tries one deployment. A node that takes the bound of its answer in another field gets it there at once. */
  async #ask(candidate: Candidate): Promise<TryEnd> {
    const { maxTokensField } = candidate.deployment;
    const { bound } = candidate;
    const mayLearn = maxTokensField === 'both' && this.asked.bound.isSet;
    let fields = mayLearn ? (bound.field ?? 'both') : maxTokensField;
    const sent = new Set<BoundFields>();
    for (;;) {
      sent.add(fields);
      const end = await this.#try(candidate, fields);
      // A refusal may quote the caller: only an answer shows what the node takes.
      if (end.kind === 'ok' && sent.size > 1 && fields !== 'both') bound.field = fields;
      const taken = mayLearn && end.kind === 'refused' ? end.takes : undefined;
      if (taken === undefined || sent.has(taken) || this.#gone) return end;
      fields = taken;
    }
  }

  async #try(candidate: Candidate, fields: BoundFields): Promise<TryEnd> {
    const { relay, time, metrics } = this.deps;
    const { deployment } = candidate;
    const limits = this.deps.timeouts();
    // The edge waits no longer, whatever a deployment is given: measured by that alone, a silent node is never late.
    const ownMs = Math.min(deployment.timeoutMs ?? limits.firstByteMs, limits.totalMs);
    const idleMs = Math.min(deployment.idleMs ?? limits.idleMs, limits.idleMs);
    const firstByteMs = Math.max(1, Math.min(ownMs, this.#deadline - time.now()));
    const patience = { headersTimeoutMs: firstByteMs, bodyTimeoutMs: idleMs };
    const began = time.now();
    const step = this.span?.child('try', { 'gateway.deployment': deployment.id });
    candidate.gate.enter();
    const { host } = candidate.gate;
    if (!this.#gone) this.caller.servedBy(servedBy(deployment, host));
    this.#attempt = relay.attempt(deployment, this.asked, fields, patience, this.caller, () => {
      // A stream may go on for minutes: what was asked isn't kept for it once there is no other try.
      this.asked.body = NOTHING;
      candidate.health.answering(time.now());
      candidate.gate.answered();
    });
    const end = await this.#attempt.ended;
    this.#attempt = undefined;
    if (candidate.gate.leave(end.kind === 'failed')) this.deps.router().readmit(candidate);
    const outcome = 'reason' in end ? end.reason : end.kind;
    metrics.attempted(deployment, outcome);
    step?.note({ 'gateway.outcome': outcome });
    if ('cause' in end && end.cause !== undefined) step?.note({ 'error.type': end.cause });
    step?.end('reason' in end);
    if (end.kind === 'ok') this.deps.router().succeeded(candidate, this.asked.path);
    if (end.kind !== 'failed' && end.kind !== 'broken') return end;
    if (end.kind === 'failed' && end.own) return { kind: 'hopeless', error: end.error };
    // One that had less time to begin than is its due, since others had used it up, has not failed.
    const hurried = end.reason === 'timeout' && firstByteMs < FAIR_SHARE * ownMs;
    if (hurried && end.kind === 'failed' && !end.certain) return end;
    return this.#blame(candidate, end, began);
  }

  /**
   * Reports a failure, and waits until it is decided what follows from it; no longer than the call may take. A whole
   * answer that isn't there in time may merely be a large one: where the node serves others, that is the caller's doing. What
   * it answered in the first half of the wait says little: it may have stalled since, with this call and others.
   */
  async #blame(candidate: Candidate, end: FailedEnd, began: number): Promise<TryEnd> {
    const { stream } = this.asked;
    const router = this.deps.router();
    const certain = end.kind === 'failed' && end.certain;
    const whole = end.reason === 'timeout' && !stream && !certain;
    let decided: TryEnd = end;
    const decide = async (): Promise<void> => {
      if (
        end.kind === 'failed' &&
        whole &&
        (await router.serves(candidate, (began + this.deps.time.now()) / 2))
      )
        decided = { kind: 'hopeless', error: end.error };
      else {
        const { reason, cause } = end;
        await router.failed(candidate, { reason, cause, certain: certain || whole });
      }
    };
    await within(Math.max(0, this.#deadline - this.deps.time.now()), decide());
    return decided;
  }

  #refuse({ status, body, outcome }: Extract<AttemptEnd, { kind: 'refused' }>): CallOutcome {
    if (this.#gone) return 'client_gone';
    this.caller.answer(status, Buffer.from(JSON.stringify(body)));
    return outcome;
  }

  #giveUp(): CallOutcome {
    return this.#answer(this.#error ?? tableError('upstream_unavailable', 503, 1));
  }

  #unavailable(line: readonly Group[]): ProxyError {
    const now = this.deps.time.now();
    const waitMs = Math.min(...line.map((group) => group.parkedFor(now)), CLOSED_RETRY_MS);
    return tableError('upstream_unavailable', 503, Math.max(1, Math.ceil(waitMs / MS_PER_SECOND)));
  }

  #answer(error: ProxyError): CallOutcome {
    if (this.#gone) return 'client_gone';
    const body = Buffer.from(JSON.stringify(bodyOf(error)));
    this.caller.answer(error.status, body, error.retryAfterSeconds);
    return error.code;
  }
}
