import type { Clock } from '../../lib/clock.js';
import type { Logger } from '../../lib/logger.js';
import type { Money } from '../../lib/money.js';
import type { Endpoint, FlushResult } from '../../metering/usage-record.js';
import type { Catalog, CatalogModel } from '../catalog.js';
import type { KeyCache } from '../keys/key-cache.js';
import type { Payer } from '../payer.js';
import type { InspectedBody } from '../request/request-body.js';
import { costBound } from '../usage/usage.js';
import { takeGuarded } from './guarded.js';
import {
  Admission,
  type Blocked,
  CallerGoneError,
  type ClientConnection,
  type Counters,
  floorOf,
  type Limits,
} from './limits.js';
import type { LimitsMetrics } from './limits-metrics.js';
import type { OpenHolds } from './open-holds.js';
import type { MaxPrice } from './price-ceiling.js';
import {
  type AdmissionError,
  guardModelGone,
  insufficientCredits,
  modelNotAllowed,
  modelUnknown,
  upstreamUnconfigured,
  wrongEndpoint,
} from './refusals.js';
import type { SharedMessages } from './shared-messages.js';
import { WaitingCalls } from './waiting-calls.js';

export interface AdmissionControlDeps {
  counters: Counters;
  cache: KeyCache;
  catalog: Catalog;
  ceilingOf(model: CatalogModel): MaxPrice;
  clock: Clock;
  log: Logger;
  metrics: LimitsMetrics;
  holds: OpenHolds;
  /** How long calls near the floor wait for another call's hold to settle. */
  queueMs?: number | undefined;
  /** The upstream's time limits together: until the first byte, and between two bytes. */
  callTimeoutMs: number;
}

/** A hold that is open for this long after the upstream's time limits has leaked. */
const HOLD_MARGIN_MS = 60_000;
const SWEEP_MS = 5_000;
/** The kind of model that each endpoint serves. */
const KINDS = { chat: 'chat', embeddings: 'embedding' } as const;

/** Creates the admission control. `counters` counts in this process or in Redis. */
export function createAdmissionControl(deps: AdmissionControlDeps): Limits {
  return new AdmissionControl(deps);
}

class AdmissionControl implements Limits {
  readonly #waiting: WaitingCalls;
  readonly #sweeper: NodeJS.Timeout;

  constructor(private readonly deps: AdmissionControlDeps) {
    this.#waiting = new WaitingCalls({
      ...deps,
      pollMs: deps.counters.pollMs,
      take: (admission) => this.#take(admission),
      open: (admission) => this.#open(admission),
      release: (admission) => this.release(admission),
    });
    this.#sweeper = setInterval(() => this.#voidLeaked(), SWEEP_MS);
    this.#sweeper.unref();
  }

  admit(
    payer: Payer,
    body: InspectedBody,
    connection: ClientConnection,
    endpoint: Endpoint,
  ): Admission | Promise<Admission> {
    const model = this.#modelFor(payer, body.model);
    if (model?.kind !== KINDS[endpoint] || !payer.authorization) {
      // The counters aren't queried, but a balance below the floor is reported first.
      if (payer.account.settledBalance < floorOf(payer)) throw insufficientCredits();
      if (!model) throw this.#notAllowed(body.model);
      throw model.kind === KINDS[endpoint] ? upstreamUnconfigured() : wrongEndpoint(model);
    }
    const served = body.movedTo === null ? model : this.#modelFor(payer, body.movedTo);
    if (!served) throw guardModelGone(body.movedTo!);
    const bound = costBound(body, this.deps.ceilingOf(served));
    const admission = new Admission(payer, connection, served, payer.authorization, bound);
    const waitedFor = this.#waiting.waitedFor(payer);
    if (waitedFor) return this.#waiting.wait(admission, waitedFor);
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
    this.deps.counters.changed(payer);
    this.#waiting.wake(payer);
  }

  release(admission: Admission): void {
    this.settle(admission, 0n, this.deps.clock.now());
  }

  writeOff({ payer }: Admission, cost: Money, at: number): void {
    if (cost === 0n) return;
    this.#charge(payer, -cost, at);
    this.#waiting.wake(payer);
  }

  adoptCharge(payer: Payer, cost: Money, at: number): void {
    this.#charge(payer, cost, at);
  }

  flushed(result: FlushResult): void {
    this.deps.cache.flushed(result);
    this.deps.counters.committed(result);
    this.#waiting.wakeAll();
  }

  capAdded(payer: Payer): void {
    this.deps.counters.changed(payer);
  }

  get messages(): SharedMessages | undefined {
    return this.deps.counters.messages;
  }

  async stop(): Promise<void> {
    clearInterval(this.#sweeper);
    await this.deps.counters.stop();
  }

  /** The model of this name, if the payer may use it. */
  #modelFor({ allowedModels }: Payer, name: string): CatalogModel | undefined {
    return allowedModels.has(name) ? this.deps.catalog.get(name) : undefined;
  }

  #notAllowed(name: string): AdmissionError {
    const { catalog } = this.deps;
    if (catalog.get(name)) return modelNotAllowed(name);
    return modelUnknown(name, (other) => catalog.get(other) !== undefined);
  }

  #take(admission: Admission): Admission | Blocked | Promise<Admission | Blocked> {
    // A call that has to wait for the balance checks its budget after the wait: the same calls may hold both.
    const { account, requireBudget } = admission.payer;
    if (account.available >= floorOf(admission.payer)) requireBudget?.(admission.model.publicName);
    if (!admission.payer.guard) return this.deps.counters.take(admission);
    const { counters, clock } = this.deps;
    return takeGuarded(admission, counters, clock.now(), (taken) => this.release(taken));
  }

  #taken(admission: Admission, taken: Admission | Blocked): Admission | Promise<Admission> {
    if (typeof taken === 'string') return this.#waiting.wait(admission, taken);
    this.#open(admission);
    if (!admission.connection.destroyed) return admission;
    this.release(admission);
    throw new CallerGoneError();
  }

  #open(admission: Admission): void {
    admission.deadline = this.deps.clock.now() + this.deps.callTimeoutMs + HOLD_MARGIN_MS;
    this.deps.holds.add(admission);
  }

  /** Adds a charge without a hold; negative: the charge will never be committed. */
  #charge(payer: Payer, cost: Money, at: number): void {
    payer.account.charge(cost);
    payer.day.charge(cost, at);
    this.deps.counters.changed(payer);
  }

  /** @returns The amount that was held until now. */
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
}
