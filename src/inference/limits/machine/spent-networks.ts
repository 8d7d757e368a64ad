import type { Clock } from '../../../lib/clock.js';
import { NetworkBudget } from '../../../lib/network-budget.js';
import type { CounterWords } from './words.js';

/** Beyond so many in one minute, edges are told of no further ones: each goes on with its own count. */
const MOST_TOLD = 50_000;

/** Counts what strangers were refused by all edges of this machine. */
export class SpentNetworks {
  readonly #budget: NetworkBudget;
  /** Those that edges were told of, and the minute in which they have had their share. */
  readonly #told = new Set<string>();
  #minute = 0;

  constructor(clock: Clock) {
    this.#budget = new NetworkBudget(clock, '');
  }

  /** Counts a refusal. @returns what all edges have to know since then, once a minute of each network. */
  count(networks: readonly string[], units: number): CounterWords | undefined {
    this.#budget.count(networks, units);
    this.#begin();
    const spent = this.#budget.spentOf(networks).filter((name) => !this.#told.has(name));
    if (spent.length === 0 || this.#told.size >= MOST_TOLD) return undefined;
    for (const name of spent) this.#told.add(name);
    return this.#words(spent);
  }

  /** All that edges were told of this minute. */
  spent(): CounterWords | undefined {
    this.#begin();
    return this.#told.size > 0 ? this.#words([...this.#told]) : undefined;
  }

  #words(networks: readonly string[]): CounterWords {
    return { kind: 'spent', minute: this.#minute, networks };
  }

  #begin(): void {
    const { minute } = this.#budget;
    if (minute === this.#minute) return;
    this.#minute = minute;
    this.#told.clear();
  }
}
