import type { Registry } from 'prom-client';
import { type Clock, DAY_MS, utcDay } from '../../../lib/clock.js';
import type { Money } from '../../../lib/money.js';
import type { FlushResult } from '../../../metering/usage-record.js';
import { type Payer, windowOf } from '../../payer.js';
import type { EdgeIdentity } from '../edge-identity.js';
import type { Admission, Blocked, Counters } from '../limits.js';
import { countEdges } from '../limits-metrics.js';
import { hold } from '../local-counters.js';
import { dailyCapExceeded, insufficientCredits, notServing, rateExceeded } from '../refusals.js';
import { type CounterLink, knownOf } from './counter-link.js';
import type { AnswerFrame } from './frames.js';
import { MachineMessages } from './machine-messages.js';

export interface MachineCountersDeps {
  link: CounterLink;
  identity: EdgeIdentity;
  clock: Clock;
  registry: Registry;
}

interface Introduced {
  ref: number;
  payer: Payer;
  usedAt: number;
}

/** A head of a queue asks so often: holds of other edges settle without a word to us. */
const POLL_MS = 20;
const SWEEP_MS = 30_000;
/** A payer that was unused for so long and has nothing open is forgotten; its minute is empty, too. */
const FORGET_MS = 65_000;

/**
 * Counters in the process that counts for all edges of this machine: one question a call. While nobody answers, nothing is
 * admitted.
 */
export class MachineCounters implements Counters {
  readonly pollMs = POLL_MS;
  readonly messages: MachineMessages;
  /** By credential. */
  readonly #introduced = new Map<string, Introduced>();
  readonly #freeRefs: number[] = [];
  #refs = 0;
  readonly #sweeper: NodeJS.Timeout;

  constructor(private readonly deps: MachineCountersDeps) {
    const { link, identity, clock, registry } = deps;
    this.messages = new MachineMessages(link, clock);
    link.tell({ kind: 'edge', id: identity.id });
    identity.onReplaced((ids) => link.tell({ kind: 'replaced', ids }));
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#sweeper.unref();
    countEdges(registry, () => link.edges);
  }

  get edges(): number {
    return this.deps.link.edges;
  }

  take(admission: Admission): Promise<Admission | Blocked> {
    const { link } = this.deps;
    if (!link.mayAdmit()) throw notServing();
    const { payer, hold: amount } = admission;
    const { account, day } = payer;
    this.#ask(admission);
    account.asked += amount;
    account.asking++;
    day.asked += amount;
    return new Promise((resolve, reject) => {
      link.askedForCall((answer, isGivenUp) => {
        account.asked -= amount;
        account.asking--;
        day.asked -= amount;
        if (isGivenUp) {
          if (answer.verdict === 'ok') this.changed(payer, -amount, 0n);
          return;
        }
        const taken = verdictOn(admission, answer, this.deps.clock.now());
        if (taken instanceof Error) reject(taken);
        else resolve(taken);
      }, reject);
    });
  }

  changed(payer: Payer, holds: Money, charges: Money): void {
    const now = this.deps.clock.now();
    this.deps.link.writer.change({
      ref: this.#refOf(payer, now),
      day: Math.floor(now / DAY_MS),
      ...{ holds, charges },
      ...knownOf(payer, utcDay(now)),
    });
  }

  committed(result: FlushResult): void {
    const sums = new Map<string, Money>();
    for (const { keyId, widgetId, cost } of result.own) {
      const id = keyId ?? widgetId;
      if (id !== null && cost !== 0n) sums.set(id, (sums.get(id) ?? 0n) + cost);
    }
    for (const [id, sum] of sums) {
      // Whoever has charges that wait is not forgotten.
      const payer = this.#introduced.get(id)?.payer;
      if (payer) this.changed(payer, 0n, -sum);
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#sweeper);
    await this.deps.link.stop();
  }

  #ask({ payer, hold: amount }: Admission): void {
    const now = this.deps.clock.now();
    this.deps.link.writer.take({
      ref: this.#refOf(payer, now),
      limit: windowOf(payer).limit,
      day: Math.floor(now / DAY_MS),
      hold: amount,
      cap: payer.dailyLimit,
      ...knownOf(payer, utcDay(now)),
    });
  }

  #refOf(payer: Payer, now: number): number {
    const known = this.#introduced.get(payer.credential.id);
    if (known) {
      known.payer = payer;
      known.usedAt = now;
      return known.ref;
    }
    const ref = this.#freeRefs.pop() ?? this.#refs++;
    this.#introduced.set(payer.credential.id, { ref, payer, usedAt: now });
    const { account, credential, rate } = payer;
    this.deps.link.tell({
      kind: 'payer',
      ref,
      accountId: account.id,
      balance: String(account.balance),
      seq: String(account.seq),
      credentialId: credential.id,
      rate: rate?.name ?? null,
    });
    return ref;
  }

  #sweep(): void {
    const now = this.deps.clock.now();
    for (const [id, { ref, payer, usedAt }] of this.#introduced) {
      if (now - usedAt <= FORGET_MS || !payer.account.idle || !payer.day.idle) continue;
      this.#introduced.delete(id);
      this.#freeRefs.push(ref);
      this.deps.link.tell({ kind: 'forget', ref });
    }
  }
}

function verdictOn(
  admission: Admission,
  { verdict, remaining, resetMs }: AnswerFrame,
  now: number,
): Admission | Blocked | Error {
  const window = windowOf(admission.payer);
  const { limit } = window;
  switch (verdict) {
    case 'ok':
      window.note(now);
      admission.rate = { allowed: true, limit, remaining, resetMs };
      return hold(admission);
    case 'poor':
      return insufficientCredits();
    case 'capped':
      return dailyCapExceeded();
    case 'rate':
      return rateExceeded({ allowed: false, limit, remaining: 0, resetMs: Math.max(1, resetMs) });
    default:
      return verdict;
  }
}
