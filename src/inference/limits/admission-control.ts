import { performance } from 'node:perf_hooks';
import type { Clock } from '../../lib/clock.js';
import type { Logger } from '../../lib/logger.js';
import type { Money } from '../../lib/money.js';
import type { Endpoint, FlushResult } from '../../metering/usage-record.js';
import type { Catalog, CatalogModel } from '../catalog.js';
import type { KeyCache } from '../keys/key-cache.js';
import type { Payer } from '../payer.js';
import type { InspectedBody } from '../request/request-body.js';
import { costBound } from '../usage/usage.js';
import type { AccountState, DayState } from './account-state.js';
import { takeGuarded } from './guarded.js';
import { GIVEN_BACK_MS } from './lease-times.js';
import {
  Admission,
  BALANCE_FLOOR,
  type Blocked,
  type Caller,
  CallerGoneError,
  type Counters,
  type Limits,
} from './limits.js';
import type { LimitsMetrics } from './limits-metrics.js';
import type { OpenHolds } from './open-holds.js';
import type { PriceCeiling } from './price-ceiling.js';
import {
  creditsHeld,
  dailyCapHeld,
  guardModelGone,
  insufficientCredits,
  keyGuardHeld,
  modelNotAllowed,
  notServing,
  upstreamUnconfigured,
  wrongEndpoint,
} from './refusals.js';
import type { SharedMessages } from './shared-messages.js';
import { type Outcome, type Waiter, WaitQueue } from './wait-queue.js';

export interface AdmissionControlDeps {
  counters: Counters;
  cache: KeyCache;
  catalog: Catalog;
  ceilingOf(model: CatalogModel): PriceCeiling;
  clock: Clock;
  log: Logger;
  metrics: LimitsMetrics;
  holds: OpenHolds;
  /** How long callers near the floor wait for a hold of another to settle. */
  queueMs?: number | undefined;
  /** What a call may take until its first byte, and between two. */
  callTimeoutMs: number;
}

/** RELIABILITY.md R1: callers near the floor wait so long for a hold of another to settle. */
const WAIT_MS = 250;
/** How often a waiting call checks whether other edges have given something back. */
const HEARD_MS = 100;
/** Beyond the upstream's own time limits; then a hold that is still open has been forgotten. */
const HOLD_MARGIN_MS = 60_000;
const SWEEP_MS = 5_000;
/** The models that each endpoint is for. */
const KINDS = { chat: 'chat', embeddings: 'embedding' } as const;

/** Limits over either kind of counters: what both have in common. */
export function createAdmissionControl(deps: AdmissionControlDeps): Limits {
  return new AdmissionControl(deps);
}

class AdmissionControl implements Limits {
  readonly #queues = new Map<AccountState | DayState, WaitQueue>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(private readonly deps: AdmissionControlDeps) {
    this.#sweeper = setInterval(() => this.#voidLeaked(), SWEEP_MS);
    this.#sweeper.unref();
  }

  admit(
    payer: Payer,
    body: InspectedBody,
    caller: Caller,
    endpoint: Endpoint,
  ): Admission | Promise<Admission> {
    const model = this.#modelFor(payer, body.model);
    if (model?.kind !== KINDS[endpoint] || !payer.authorization) {
      // The counters aren't queried, but a balance below the floor is reported first.
      if (payer.account.posted < BALANCE_FLOOR) throw insufficientCredits();
      if (!model) throw modelNotAllowed(body.model);
      throw model.kind === KINDS[endpoint] ? upstreamUnconfigured() : wrongEndpoint(model);
    }
    const served = body.movedTo === null ? model : this.#modelFor(payer, body.movedTo);
    if (!served) throw guardModelGone(body.movedTo!);
    const bound = costBound(body, this.deps.ceilingOf(served));
    const admission = new Admission(payer, caller, served, payer.authorization, bound);
    const waitedFor = this.#waitedFor(admission);
    if (waitedFor) return this.#wait(admission, waitedFor);
    const taken = this.#take(admission);
    if (taken instanceof Promise) return taken.then((later) => this.#taken(admission, later));
    return this.#taken(admission, taken);
  }

  settle(admission: Admission, cost: Money, at: number): void {
    const { payer } = admission;
    const held = this.#unhold(admission);
    payer.account.charge(cost);
    payer.day.charge(cost, at);
    if (held === 0n && cost === 0n) return;
    this.deps.counters.changed(payer, -held, cost, at);
    this.#wake(payer);
  }

  release(admission: Admission): void {
    this.settle(admission, 0n, this.deps.clock.now());
  }

  waive({ payer }: Admission, cost: Money, at: number): void {
    if (cost === 0n) return;
    this.#charge(payer, -cost, at);
    this.#wake(payer);
  }

  takeOver(payer: Payer, cost: Money, at: number): void {
    this.#charge(payer, cost, at);
  }

  flushed(result: FlushResult): void {
    this.deps.cache.flushed(result);
    this.deps.counters.committed(result);
    if (this.#queues.size === 0) return;
    for (const queue of [...this.#queues.values()]) queue.wake();
  }

  capped(payer: Payer): void {
    this.deps.counters.capped(payer);
  }

  get messages(): SharedMessages | undefined {
    return this.deps.counters.messages;
  }

  async stop(): Promise<void> {
    clearInterval(this.#sweeper);
    await this.deps.counters.stop();
  }

  /** The model of a name, if the payer may use it. */
  #modelFor({ allowedModels }: Payer, name: string): CatalogModel | undefined {
    return allowedModels.has(name) ? this.deps.catalog.get(name) : undefined;
  }

  #take(admission: Admission): Admission | Blocked | Promise<Admission | Blocked> {
    // A call that has to wait for the balance looks at it afterwards: what holds the one may hold the other.
    const { account, requireBudget } = admission.payer;
    if (account.available >= BALANCE_FLOOR) requireBudget?.(admission.model.publicName);
    if (!admission.payer.guard) return this.deps.counters.take(admission);
    const { counters, clock } = this.deps;
    return takeGuarded(admission, counters, clock.now(), (taken) => this.release(taken));
  }

  #taken(admission: Admission, taken: Admission | Blocked): Admission | Promise<Admission> {
    if (typeof taken === 'string') return this.#wait(admission, taken);
    this.#open(admission);
    if (!admission.caller.destroyed) return admission;
    this.release(admission);
    throw new CallerGoneError();
  }

  #open(admission: Admission): void {
    admission.deadline = this.deps.clock.now() + this.deps.callTimeoutMs + HOLD_MARGIN_MS;
    this.deps.holds.add(admission);
  }

  /** A charge without a hold; negative for one that will never come. */
  #charge(payer: Payer, cost: Money, at: number): void {
    payer.account.charge(cost);
    payer.day.charge(cost, at);
    this.deps.counters.changed(payer, 0n, cost, at);
  }

  /** @returns What was held until now. */
  #unhold(admission: Admission): Money {
    if (!admission.held) return 0n;
    admission.held = false;
    this.deps.holds.delete(admission);
    admission.payer.account.holds -= admission.hold;
    admission.payer.day.holds -= admission.hold;
    return admission.hold;
  }

  #voidLeaked(): void {
    for (const admission of this.deps.holds.leaked(this.deps.clock.now())) {
      const { account, credential } = admission.payer;
      this.deps.metrics.leaked();
      this.deps.log.error({ accountId: account.id, credential }, 'voided a hold that was never settled');
      this.release(admission);
    }
  }

  /** Whether others already wait for what this call needs, so that it has to wait behind them. */
  #waitedFor({ payer }: Admission): Blocked | undefined {
    if (this.#queues.size === 0) return undefined;
    if (this.#queues.has(payer.account)) return 'account';
    const mayWait = payer.dailyLimit !== null || payer.guard?.action === 'disable';
    return mayWait && this.#queues.has(payer.day) ? 'key' : undefined;
  }

  #wake(payer: Payer): void {
    if (this.#queues.size === 0) return;
    this.#queues.get(payer.account)?.wake();
    this.#queues.get(payer.day)?.wake();
  }

  #queue({ admission, blocked }: Waiter): WaitQueue {
    const state = blocked === 'account' ? admission.payer.account : admission.payer.day;
    let queue = this.#queues.get(state);
    if (!queue) {
      queue = new WaitQueue({
        blocked,
        pollMs: this.deps.counters.pollMs,
        attempt: (waiter) => this.#attempt(waiter),
        leave: (waiter, outcome) => {
          this.#drop(waiter);
          this.#left.get(waiter)?.(outcome);
        },
      });
      this.#queues.set(state, queue);
    }
    return queue;
  }

  /** Takes a waiter out of its queue, and away the queue when it was the last. */
  #drop(waiter: Waiter): void {
    const { payer } = waiter.admission;
    const state = waiter.blocked === 'account' ? payer.account : payer.day;
    const queue = this.#queues.get(state);
    queue?.delete(waiter);
    if (queue?.size === 0) this.#queues.delete(state);
  }

  /** What holds a call back: the account's calls in flight, or the key's, by its guard or its daily cap. */
  #held({ blocked, admission }: Waiter): Error {
    if (blocked === 'account') return creditsHeld();
    const { guard } = admission.payer;
    const isGuard = guard?.action === 'disable' && guard.stand(this.deps.clock.now()) !== 'idle';
    return isGuard ? keyGuardHeld() : dailyCapHeld();
  }

  #attempt({ admission }: Waiter): Outcome | Promise<Outcome> {
    try {
      const taken = this.#take(admission);
      return taken instanceof Promise ? taken.catch((error: Error) => error) : taken;
    } catch (error) {
      return error as Error;
    }
  }

  /** Called with the outcome of a waiter that has left its queue. */
  readonly #left = new WeakMap<Waiter, (outcome: Outcome) => void>();

  #wait(admission: Admission, blocked: Blocked): Promise<Admission> {
    const since = performance.now();
    const { caller } = admission;
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { admission, blocked, done: false };
      const end = (outcome: 'admitted' | 'refused' | 'gone'): void => {
        waiter.done = true;
        clearTimeout(timer);
        caller.removeListener('close', gone);
        this.#drop(waiter);
        this.deps.metrics.waited((performance.now() - since) / 1000, outcome);
      };
      const refuse = (error: Error): void => {
        end('refused');
        reject(error);
      };
      const gone = (): void => {
        end('gone');
        reject(new CallerGoneError());
      };
      // What has arrived while the process was busy is read first: it may say that others hold what is missing.
      const giveUpAfter = (ms: number): NodeJS.Timeout => setTimeout(() => setImmediate(giveUp), ms);
      const giveUp = (): void => {
        if (waiter.done) return;
        const now = performance.now();
        const isKnown = now - admission.payer.account.unknownAt > HEARD_MS;
        if (!isKnown && now - since < GIVEN_BACK_MS) timer = giveUpAfter(HEARD_MS);
        else refuse(isKnown ? this.#held(waiter) : notServing());
      };
      let timer = giveUpAfter(this.deps.queueMs ?? WAIT_MS);
      this.#left.set(waiter, (outcome) => {
        if (waiter.done) {
          // It gave up while it was being admitted.
          if (outcome instanceof Admission) {
            this.#open(outcome);
            this.release(outcome);
          }
        } else if (outcome instanceof Admission) {
          this.#open(outcome);
          // A pipelined call hears of its connection's end a moment after the one before it, which gives back its hold.
          if (caller.destroyed) {
            this.release(outcome);
            gone();
            return;
          }
          end('admitted');
          resolve(outcome);
        } else if (outcome instanceof Error) {
          refuse(outcome);
        } else {
          waiter.blocked = outcome;
          this.#queue(waiter).add(waiter);
        }
      });
      caller.once('close', gone);
      if (caller.destroyed) gone();
      else this.#queue(waiter).add(waiter);
    });
  }
}
