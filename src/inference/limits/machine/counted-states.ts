import type { Clock } from '../../../lib/clock.js';
import { SlidingWindow } from '../../../lib/sliding-window.js';
import { AccountState, DayState } from '../account-state.js';
import { type CountedEdge, type CountedPayer, type CountedWindow, Part } from './counted-edge.js';
import type { PayerWords } from './words.js';

const MINUTE_MS = 60_000;

/** The states of all accounts, credentials and windows that edges of this machine have use of. */
export class CountedStates {
  readonly #accounts = new Map<string, AccountState>();
  /** By credential. */
  readonly #days = new Map<string, DayState>();
  /** Windows of their own, by name. */
  readonly #windows = new Map<string, SlidingWindow>();
  readonly #counted = new WeakMap<SlidingWindow, CountedWindow>();

  constructor(private readonly clock: Clock) {}

  account(id: string): AccountState | undefined {
    return this.#accounts.get(id);
  }

  /** The messages of a widget in the last minute. */
  window(accountId: string, name: string): SlidingWindow {
    const make = () => new SlidingWindow(1, MINUTE_MS);
    return getOrMake(this.#windows, `${accountId}:${name}`, make);
  }

  introduce(edge: CountedEdge, words: PayerWords): CountedPayer {
    const { accountId, credentialId, rate } = words;
    const make = () => new AccountState(accountId, BigInt(words.balance), BigInt(words.seq), 1);
    const state = getOrMake(this.#accounts, accountId, make);
    const account = getOrMake(edge.accounts, accountId, () => new Part(state));
    const dayState = getOrMake(this.#days, credentialId, () => new DayState());
    const day = getOrMake(edge.days, credentialId, () => new Part(dayState));
    const own = rate === null ? undefined : { name: rate, window: this.window(accountId, rate) };
    const payer = { account: state, day: dayState, dailyLimit: null, rate: own };
    const counted: CountedPayer = {
      account,
      day,
      ref: words.ref,
      window: this.#countedWindow(own?.window ?? state.window),
      claim: { payer, hold: 0n, held: false, rate: undefined },
      lease: { calls: 0, money: 0n, granted: 0, isRecalled: false },
    };
    account.payers.add(counted);
    day.payers.add(counted);
    return counted;
  }

  #countedWindow(window: SlidingWindow): CountedWindow {
    const known = this.#counted.get(window);
    if (known) return known;
    const counted = { window, leased: 0 };
    this.#counted.set(window, counted);
    return counted;
  }

  /** Forgets what is empty and no edge uses. */
  sweep(edges: readonly CountedEdge[]): void {
    for (const edge of edges) edge.tidy();
    const used = new Set<unknown>();
    for (const edge of edges) {
      for (const { state } of edge.parts()) used.add(state);
      for (const payer of edge.payers) used.add(payer?.window.window);
    }
    const now = this.clock.now();
    const isEmpty = (window: SlidingWindow): boolean => window.peek(now).resetMs === 0;
    for (const [id, state] of this.#accounts)
      if (!used.has(state) && isEmpty(state.window)) this.#accounts.delete(id);
    for (const [id, state] of this.#days) if (!used.has(state)) this.#days.delete(id);
    for (const [name, window] of this.#windows)
      if (!used.has(window) && isEmpty(window)) this.#windows.delete(name);
  }
}

function getOrMake<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
