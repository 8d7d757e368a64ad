import { performance } from 'node:perf_hooks';
import type { Clock } from '../../lib/clock.js';
import { graceTimeout } from '../../lib/grace-timeout.js';
import type { Payer } from '../payer.js';
import type { AccountState } from './account-state.js';
import { Admission, type Blocked, CallerGoneError } from './limits.js';
import type { LimitsMetrics } from './limits-metrics.js';
import type { PeriodSpend } from './period-spend.js';
import { balanceUnverifiable, creditsHeld, dailyCapHeld, keyGuardHeld } from './refusals.js';
import { type AdmissionOutcome, type Waiter, WaitQueue } from './wait-queue.js';

interface WaitingDeps {
  clock: Clock;
  metrics: LimitsMetrics;
  /** How long calls near the floor wait for another call's hold to settle. */
  queueMs?: number | undefined;
  /** How often a queue tries again without being woken: other edges release holds without a message to this one. */
  pollMs: number | undefined;
  /** Tries to take the hold. */
  take(admission: Admission): AdmissionOutcome | Promise<AdmissionOutcome>;
  /** Registers a hold that was taken. */
  open(admission: Admission): void;
  release(admission: Admission): void;
}

/** Callers near the floor wait this long for another call's hold to settle (requirement R1). */
const WAIT_MS = 250;
/** A caller without other calls waits this long for the reserve: three heartbeats and a moment. */
const RESERVED_MS = 5_000;
const RESERVED_AGAIN_MS = 100;

/** Calls that wait for other calls' holds to settle, in one queue per account or key that has run short. */
export class WaitingCalls {
  readonly #queues = new Map<AccountState | PeriodSpend, WaitQueue>();
  /** Called with the outcome of a waiter once it has left its queue. */
  readonly #left = new WeakMap<Waiter, (outcome: AdmissionOutcome) => void>();

  constructor(private readonly deps: WaitingDeps) {}

  /** What earlier calls of the payer already wait for: a new call has to queue behind them. */
  waitedFor(payer: Payer): Blocked | undefined {
    if (this.#queues.size === 0) return undefined;
    if (this.#queues.has(payer.account)) return 'balance_held';
    const mayWait = payer.dailyLimit !== null || payer.guard?.action === 'disable';
    return mayWait && this.#queues.has(payer.day) ? 'cap_held' : undefined;
  }

  /** Lets the payer's calls try again. */
  wake(payer: Payer): void {
    if (this.#queues.size === 0) return;
    this.#queues.get(payer.account)?.wake();
    this.#queues.get(payer.day)?.wake();
  }

  wakeAll(): void {
    if (this.#queues.size === 0) return;
    for (const queue of [...this.#queues.values()]) queue.wake();
  }

  /**
   * Waits in the queue until the hold is taken.
   * @throws AdmissionError, CallerGoneError
   */
  wait(admission: Admission, blocked: Blocked): Promise<Admission> {
    const since = performance.now();
    const { connection } = admission;
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { admission, blocked, done: false };
      const end = (outcome: 'admitted' | 'refused' | 'gone'): void => {
        waiter.done = true;
        endLimit();
        connection.removeListener('close', gone);
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
      const giveUp = (): void => {
        const isReserved = this.#queue(waiter).head?.admission.isReserved ?? false;
        if (!isReserved) refuse(this.#held(waiter));
        else if (performance.now() - since < RESERVED_MS) endLimit = graceTimeout(RESERVED_AGAIN_MS, giveUp);
        else refuse(waiter.blocked === 'balance_held' ? balanceUnverifiable() : this.#held(waiter));
      };
      let endLimit = graceTimeout(this.deps.queueMs ?? WAIT_MS, giveUp);
      this.#left.set(waiter, (outcome) => {
        if (waiter.done) {
          // The wait ended while this admission was under way.
          if (outcome instanceof Admission) {
            this.deps.open(outcome);
            this.deps.release(outcome);
          }
        } else if (outcome instanceof Admission) {
          this.deps.open(outcome);
          // When a connection closes, a pipelined call gets the event a moment after the call before it, which has released its
          // hold by then.
          if (connection.destroyed) {
            this.deps.release(outcome);
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
      connection.once('close', gone);
      if (connection.destroyed) gone();
      else this.#queue(waiter).add(waiter);
    });
  }

  #queue({ admission, blocked }: Waiter): WaitQueue {
    const state = blocked === 'balance_held' ? admission.payer.account : admission.payer.day;
    let queue = this.#queues.get(state);
    if (!queue) {
      queue = new WaitQueue({
        blocked,
        pollMs: this.deps.pollMs,
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

  /** Removes a waiter from its queue, and the queue once it is empty. */
  #drop(waiter: Waiter): void {
    const { payer } = waiter.admission;
    const state = waiter.blocked === 'balance_held' ? payer.account : payer.day;
    const queue = this.#queues.get(state);
    queue?.delete(waiter);
    if (queue?.size === 0) this.#queues.delete(state);
  }

  /** The refusal of a call that waited in vain: for the account's balance, the key's guard or its daily cap. */
  #held({ blocked, admission }: Waiter): Error {
    if (blocked === 'balance_held') return creditsHeld();
    const { guard } = admission.payer;
    const isGuard = guard?.action === 'disable' && guard.phase(this.deps.clock.now()) !== 'idle';
    return isGuard ? keyGuardHeld() : dailyCapHeld();
  }

  #attempt({ admission }: Waiter): AdmissionOutcome | Promise<AdmissionOutcome> {
    try {
      const taken = this.deps.take(admission);
      return taken instanceof Promise ? taken.catch((error: Error) => error) : taken;
    } catch (error) {
      return error as Error;
    }
  }
}
