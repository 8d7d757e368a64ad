import type { Registry } from 'prom-client';
import type { Clock } from '../../../lib/clock.js';
import type { Money } from '../../../lib/money.js';
import type { FlushResult } from '../../../metering/usage-record.js';
import { type Payer, windowOf } from '../../payer.js';
import { committedCharges } from '../committed-charges.js';
import type { EdgeIdentity } from '../edge-identity.js';
import type { Admission, Blocked, Counters } from '../limits.js';
import { countEdges } from '../limits-metrics.js';
import { hold } from '../local-counters.js';
import { dailyCapExceeded, insufficientCredits, notServing, rateExceeded } from '../refusals.js';
import type { CounterLink } from './counter-link.js';
import { type AnswerFrame, LINE_VERSION } from './frames.js';
import { MachineMessages } from './machine-messages.js';
import { ToldPayer } from './told-payer.js';

export interface MachineCountersDeps {
  link: CounterLink;
  identity: EdgeIdentity;
  clock: Clock;
  registry: Registry;
}

/** How often the head of a queue asks again: holds of other edges settle without a message to us. */
const POLL_MS = 20;
const SWEEP_MS = 30_000;
/** A payer that was unused for so long and has nothing open is forgotten; its minute is empty, too. */
const FORGET_MS = 65_000;

/** How often changes are reported, unless the counting process asks for them. */
const TELL_MS = 250;

/**
 * Counters in the process that counts for all edges of this machine. Far from its limits a payer's calls are admitted out of
 * a lease, which is exact since that process counts it as used; otherwise it is one question a call. While nobody answers,
 * nothing is admitted beyond what is leased.
 */
export class MachineCounters implements Counters {
  readonly pollMs = POLL_MS;
  readonly messages: MachineMessages;
  /** By credential. */
  readonly #told = new Map<string, ToldPayer>();
  readonly #byRef: (ToldPayer | undefined)[] = [];
  readonly #freeRefs: number[] = [];
  /** Those that have a lease, and with it perhaps something to tell. */
  readonly #leased = new Set<ToldPayer>();
  #tellsAt: NodeJS.Timeout | undefined;
  readonly #sweeper: NodeJS.Timeout;

  constructor(private readonly deps: MachineCountersDeps) {
    const { link, identity, clock, registry } = deps;
    this.messages = new MachineMessages(link, clock);
    link.tell({ kind: 'edge', id: identity.id, version: LINE_VERSION });
    identity.onFound((ids) => link.tell({ kind: 'found', ids }));
    identity.onReplaced((ids) => link.tell({ kind: 'replaced', ids }));
    link.onGrant = (grant) => {
      const told = this.#byRef[grant.ref]!;
      told.heard();
      this.#granted(told, grant, clock.now());
    };
    link.onRecall = (ref) => {
      const told = this.#byRef[ref];
      if (told) this.#close(told);
    };
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#sweeper.unref();
    countEdges(registry, () => link.edges);
  }

  get edges(): number {
    return this.deps.link.edges;
  }

  take(admission: Admission): Admission | Promise<Admission | Blocked> {
    const { link, clock } = this.deps;
    if (!link.mayAdmit()) throw notServing();
    const { payer, hold: amount } = admission;
    const now = clock.now();
    const told = this.#toldOf(payer, now);
    const rate = told.admit(amount, now);
    if (rate) {
      if (told.isLow) told.tell(link.writer, now, { wants: true });
      windowOf(payer).note(now);
      admission.rate = rate;
      return hold(admission);
    }
    return this.#ask(admission, told, now);
  }

  changed(payer: Payer, holds: Money, charges: Money, at: number): void {
    const { clock, link } = this.deps;
    const now = clock.now();
    const told = this.#toldOf(payer, now);
    if (charges !== 0n && told.hasOtherDay(at)) told.tell(link.writer, now);
    told.changed(holds, charges, at);
    if (!told.isLeased) told.tell(link.writer, now);
  }

  committed(result: FlushResult): void {
    for (const { id, charges, at } of committedCharges(result)) {
      // Whoever has charges that wait is not forgotten.
      const payer = this.#told.get(id)?.payer;
      if (payer) this.changed(payer, 0n, -charges, at);
    }
  }

  /** The counting process counts the holds of all keys. */
  capped(): void {}

  async stop(): Promise<void> {
    clearInterval(this.#sweeper);
    clearTimeout(this.#tellsAt);
    for (const told of this.#leased) this.#close(told);
    this.deps.link.tell({ kind: 'stops' });
    await this.deps.link.stop();
  }

  #ask(admission: Admission, told: ToldPayer, now: number): Promise<Admission | Blocked> {
    const { link, clock } = this.deps;
    const { payer, hold: amount } = admission;
    const { account, day } = payer;
    told.ask(link.writer, amount, now);
    account.asked += amount;
    account.asking++;
    day.asked += amount;
    return new Promise((resolve, reject) => {
      link.askedForCall((answer, isGivenUp) => {
        account.asked -= amount;
        account.asking--;
        day.asked -= amount;
        const answeredAt = clock.now();
        this.#granted(told, answer, answeredAt);
        if (isGivenUp) {
          if (answer.verdict === 'ok') this.changed(payer, -amount, 0n, answeredAt);
          return;
        }
        const taken = verdictOn(admission, answer, answeredAt);
        if (taken instanceof Error) reject(taken);
        else resolve(taken);
      }, reject);
    });
  }

  #granted(told: ToldPayer, grant: Pick<AnswerFrame, 'calls' | 'money' | 'remaining'>, now: number): void {
    told.granted(grant, grant.remaining, now);
    if (!told.isLeased) return;
    this.#leased.add(told);
    if (!this.#tellsAt) this.#tellLater();
  }

  #close(told: ToldPayer): void {
    this.#leased.delete(told);
    told.tell(this.deps.link.writer, this.deps.clock.now(), { closes: true });
  }

  #tellAll(): void {
    const { link, clock } = this.deps;
    const now = clock.now();
    for (const told of this.#leased) {
      told.renew(link.writer, now);
      if (!told.isLeased) this.#leased.delete(told);
    }
    link.writer.flush();
    this.#tellsAt = undefined;
    if (this.#leased.size > 0) this.#tellLater();
  }

  #tellLater(): void {
    this.#tellsAt = setTimeout(() => this.#tellAll(), TELL_MS);
    this.#tellsAt.unref();
  }

  #toldOf(payer: Payer, now: number): ToldPayer {
    const known = this.#told.get(payer.credential.id);
    if (known) {
      known.payer = payer;
      known.usedAt = now;
      return known;
    }
    const ref = this.#freeRefs.pop() ?? this.#byRef.length;
    const told = new ToldPayer(ref, payer);
    told.usedAt = now;
    this.#told.set(payer.credential.id, told);
    this.#byRef[ref] = told;
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
    return told;
  }

  #sweep(): void {
    const now = this.deps.clock.now();
    for (const [id, told] of this.#told) {
      if (now - told.usedAt <= FORGET_MS || !told.isIdle) continue;
      this.#told.delete(id);
      this.#byRef[told.ref] = undefined;
      this.#freeRefs.push(told.ref);
      this.deps.link.tell({ kind: 'forget', ref: told.ref });
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
    case 'account':
    case 'key':
      return verdict;
    default:
      return notServing();
  }
}
