import type { Leave } from '../lib/fair/fair-queue.js';
import type { Span } from '../lib/tracing/tracing.js';
import type { ServedBy } from '../lib/upstream/served-by.js';
import { within } from '../lib/within.js';
import { bodyOf, capRetryAfter, type ProxyError, tableError, upstreamTooSlow } from './answers.js';
import type { Attempt, AttemptEnd } from './attempt.js';
import type { Attempts } from './attempts.js';
import { availabilityOf, type Candidate, type Group, type Random } from './group.js';
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
  /** Milliseconds to the first byte of one try, where the deployment sets none. */
  firstByteMs: number;
  /** Milliseconds to the first byte of the whole call, including retries and pauses. */
  totalMs: number;
  /** Milliseconds without a byte; a deployment may set less. */
  idleMs: number;
}

export interface RoutedCallDeps {
  /** The routing in force; it may change between two tries. */
  router(): Router;
  attempts: Attempts;
  time: ProxyTime;
  random: Random;
  metrics: RouterMetrics;
  timeouts(): RouterTimeouts;
}

type FailedEnd = Extract<AttemptEnd, { kind: 'failed' | 'broken' }>;
/** `hopeless`: no other node can succeed. The node works and only this answer took too long, or this process lacks resources. */
type TryEnd = AttemptEnd | { kind: 'hopeless'; error: ProxyError };

/**
 * How a call ended, for metrics: `ok`, `client_gone`, `stream_broken`, `answer_too_large`, a status such as `upstream_400`, or an
 * error code.
 */
export type CallOutcome = string;

const NONE: ReadonlySet<Health> = new Set();
const MS_PER_SECOND = 1000;
const FAIR_SHARE = 0.9;
/** `Retry-After` while nodes are closed: an administrator may open them at any time. */
const CLOSED_RETRY_MS = 60_000;
const NOTHING = Buffer.alloc(0);

const servedBy = ({ storableName }: Deployment, { nodeId, calls }: Host): ServedBy | undefined =>
  storableName === undefined
    ? undefined
    : { deployment: storableName, nodeId: nodeId ?? null, nodeCalls: calls };

/** One call, tried at the deployments that may answer it. */
export class RoutedCall {
  readonly #deadline: number;
  #attempt: Attempt | undefined;
  #gone: boolean;
  /** Set during a pause, which it ends when the caller leaves. */
  #leaving: AbortController | undefined;
  /** Why the last try failed. */
  #error: ProxyError | undefined;

  constructor(
    private readonly deps: RoutedCallDeps,
    private readonly request: ProxyRequest,
    private readonly sink: RouterSink,
    private readonly span?: Span,
  ) {
    this.#deadline = deps.time.now() + deps.timeouts().totalMs;
    this.#gone = sink.gone;
    sink.onLeft(() => {
      this.#gone = true;
      this.#attempt?.abandon();
      this.#leaving?.abort();
    });
    sink.onDrain(() => this.#attempt?.resume());
  }

  /**
   * Answers the caller, with as many tries as the settings allow: in the model's own group, and in its fallbacks while the whole
   * group is unavailable. Never throws.
   */
  async run(): Promise<CallOutcome> {
    const groups = this.deps.router().groupsFor(this.request.model);
    for (const group of groups) {
      const outcome = await this.#tryGroup(group.name);
      if (outcome === undefined) continue;
      if (outcome === 'ok' && group !== groups[0]) this.deps.metrics.fellBack(this.request.model, group.name);
      return outcome;
    }
    // A caller who waits for as long as the first deployment is closed finds it open.
    const own = this.#error?.code === 'upstream_unavailable' ? undefined : this.#error;
    return this.#answer(own ?? this.#unavailable(groups));
  }

  /** Tries one group; undefined if the whole group is unavailable, so that a fallback can answer. */
  async #tryGroup(name: string): Promise<CallOutcome | undefined> {
    // Identified by their health, which survives a reload of the routing file.
    let tried = NONE as Set<Health>;
    for (let retries = 0; ; retries++) {
      const router = this.deps.router();
      const group = router.groupsFor(name)[0];
      const candidate = group && (await this.#next(group, tried, router.settings.retryAfterMs));
      if (this.#gone) return 'client_gone';
      if (!candidate) return group && !group.isUnavailable(this.deps.time.now()) ? this.#giveUp() : undefined;
      const leave = await this.#turnAt(candidate);
      const isStillThere = this.#takesCalls(candidate);
      if (this.#gone || !isStillThere) leave?.();
      if (this.#gone) return 'client_gone';
      if (!leave) return this.#answer(this.#error ?? upstreamTooSlow);
      if (!isStillThere) {
        retries--;
        continue;
      }
      const end = await this.#ask(candidate).finally(leave);
      if (end.kind === 'ok') return 'ok';
      if (end.kind === 'refused') return this.#refuse(end);
      if (end.kind === 'client_gone') return 'client_gone';
      if (end.kind === 'broken') return 'stream_broken';
      if (end.kind === 'too_large') return 'answer_too_large';
      this.#error = end.error;
      if (end.kind === 'hopeless') return this.#giveUp();
      if (retries >= router.settings.numRetries) {
        return group.isUnavailable(this.deps.time.now()) ? undefined : this.#giveUp();
      }
      if (tried === NONE) tried = new Set();
      tried.add(candidate.health);
    }
  }

  /** The next deployment: at once if an untried one is available, otherwise a tried one after the pause. */
  async #next(
    group: Group,
    tried: ReadonlySet<Health>,
    retryAfterMs: number,
  ): Promise<Candidate | undefined> {
    const { time, random } = this.deps;
    const now = time.now();
    if (this.#gone || (this.#error && now >= this.#deadline)) return undefined;
    const fresh = group.pick(now, random, tried);
    if (fresh || tried.size === 0 || group.isUnavailable(now)) return fresh;
    if (now + retryAfterMs >= this.#deadline) return undefined;
    this.#leaving = new AbortController();
    await time.pause(retryAfterMs, this.#leaving.signal).catch(() => undefined);
    this.#leaving = undefined;
    return group.pick(time.now(), random, NONE);
  }

  /** Waits for one of a deployment's parallel calls; undefined if the caller left or the call's time is over. */
  async #turnAt({ limits }: Candidate): Promise<Leave | undefined> {
    const { time } = this.deps;
    const over = new AbortController();
    const turn = limits.enter(this.request.owner, over.signal);
    if (!(turn instanceof Promise)) return turn;
    this.#leaving = over;
    const waited = new AbortController();
    void time.pause(this.#deadline - time.now(), waited.signal).then(
      () => over.abort(),
      () => undefined,
    );
    const leave = await turn;
    waited.abort();
    this.#leaving = undefined;
    return leave;
  }

  /** Whether a deployment takes calls after the wait for it: meanwhile it may have been closed, or removed from the routing. */
  #takesCalls(candidate: Candidate): boolean {
    const { router, time } = this.deps;
    const isRouted = router().candidates.some(({ health }) => health === candidate.health);
    return isRouted && availabilityOf(candidate, time.now()) !== 'closed';
  }

  /** Tries one deployment. If its node wants the bound in another field, tries that field at once. */
  async #ask(candidate: Candidate): Promise<TryEnd> {
    const { maxTokensField } = candidate.deployment;
    const { bound } = candidate;
    const mayLearn = maxTokensField === 'both' && this.request.bound.isSet;
    let fields = mayLearn ? (bound.field ?? 'both') : maxTokensField;
    const sent = new Set<BoundFields>();
    for (;;) {
      sent.add(fields);
      const end = await this.#try(candidate, fields);
      // A refusal may quote the caller: only an answer proves that the node accepts the field.
      if (end.kind === 'ok' && sent.size > 1 && fields !== 'both') bound.field = fields;
      const taken = mayLearn && end.kind === 'refused' ? end.takes : undefined;
      if (taken === undefined || sent.has(taken) || this.#gone) return end;
      fields = taken;
    }
  }

  async #try(candidate: Candidate, fields: BoundFields): Promise<TryEnd> {
    const { attempts, time, metrics } = this.deps;
    const { deployment } = candidate;
    const defaults = this.deps.timeouts();
    // No call waits longer than totalMs. A larger timeout of the deployment would never count as reached.
    const ownMs = Math.min(deployment.timeoutMs ?? defaults.firstByteMs, defaults.totalMs);
    const idleMs = Math.min(deployment.idleMs ?? defaults.idleMs, defaults.idleMs);
    const firstByteMs = Math.max(1, Math.min(ownMs, this.#deadline - time.now()));
    const timeouts = { headersTimeoutMs: firstByteMs, bodyTimeoutMs: idleMs };
    const began = time.now();
    const step = this.span?.child('try', { 'gateway.deployment': deployment.id });
    candidate.gate.enter();
    candidate.limits.sent(began);
    const { host } = candidate.gate;
    if (!this.#gone) this.sink.servedBy(servedBy(deployment, host));
    this.#attempt = attempts.attempt(deployment, this.request, fields, timeouts, this.sink, () => {
      // No other try can follow, and a stream may last for minutes: free the request's body.
      this.request.body = NOTHING;
      candidate.health.answering(time.now());
      candidate.gate.answered();
    });
    const attempt = this.#attempt;
    const end = await attempt.ended;
    this.#attempt = undefined;
    candidate.limits.used(time.now(), attempt.tokens);
    const waitMs = end.kind === 'failed' ? end.waitMs : undefined;
    if (candidate.gate.leave(end.kind === 'failed' && waitMs === undefined))
      this.deps.router().warmUp(candidate);
    const outcome = 'reason' in end ? end.reason : end.kind;
    metrics.attempted(deployment, outcome);
    step?.note({ 'gateway.outcome': outcome });
    if ('cause' in end && end.cause !== undefined) step?.note({ 'error.type': end.cause });
    step?.end('reason' in end);
    if (end.kind === 'ok') this.deps.router().succeeded(candidate, this.request.path);
    if (end.kind !== 'failed' && end.kind !== 'broken') return end;
    const { settings, limited } = this.deps.router();
    if (end.kind === 'failed' && waitMs !== undefined && limited(candidate, waitMs))
      return { ...end, error: capRetryAfter(end.error, settings.cooldownMs) };
    if (end.kind === 'failed' && end.own) return { kind: 'hopeless', error: end.error };
    // A deployment that earlier tries left too little time isn't to blame for the timeout.
    const hurried = end.reason === 'timeout' && firstByteMs < FAIR_SHARE * ownMs;
    if (hurried && end.kind === 'failed' && !end.certain) return end;
    return this.#blame(candidate, end, began);
  }

  /**
   * Reports a failure and waits for its consequences, but no longer than the call may take. A whole answer that is late may merely be
   * large: if the node serves other calls meanwhile, the caller is the cause. Answers in the first half of the wait don't count: the
   * node may have stalled since.
   */
  async #blame(candidate: Candidate, end: FailedEnd, began: number): Promise<TryEnd> {
    const { stream } = this.request;
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
    this.sink.answer(status, Buffer.from(JSON.stringify(body)));
    return outcome;
  }

  #giveUp(): CallOutcome {
    return this.#answer(this.#error ?? tableError('upstream_unavailable', 503, 1));
  }

  #unavailable(groups: readonly Group[]): ProxyError {
    const now = this.deps.time.now();
    const waitMs = Math.min(...groups.map((group) => group.unavailableFor(now)), CLOSED_RETRY_MS);
    return tableError('upstream_unavailable', 503, Math.max(1, Math.ceil(waitMs / MS_PER_SECOND)));
  }

  #answer(error: ProxyError): CallOutcome {
    if (this.#gone) return 'client_gone';
    const body = Buffer.from(JSON.stringify(bodyOf(error)));
    this.sink.answer(error.status, body, error.retryAfterSeconds);
    return error.code;
  }
}
