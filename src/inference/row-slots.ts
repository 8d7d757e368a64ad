/** What a cache knows of one name. */
export interface Slot<Entry> {
  readonly entry: Entry;
  /** Used since the last refresh: read again with the next one, however many there are. */
  used: boolean;
  /** When a call last asked for it, in milliseconds of the clock. */
  usedAt: number;
  /** The round of `invalidateAll` in which it was read. */
  readonly round: number;
  /** Changed since it was read: not to be used, not even while the database is away. */
  changed: boolean;
}

/** What entries are found by. */
interface Indexed {
  readonly hash: string;
  readonly credential: { readonly id: string };
  readonly account: { readonly id: string };
}

/** Slots by name, the one that was read the longest ago leaving first, and by the ids of their credential and account. */
export class RowSlots<Entry extends Indexed> {
  /** In the order in which they were read. */
  readonly #slots = new Map<string, Slot<Entry>>();
  readonly #byId = new Map<string, Set<Slot<Entry>>>();

  constructor(private readonly max: number) {}

  get size(): number {
    return this.#slots.size;
  }

  get(name: string): Slot<Entry> | undefined {
    return this.#slots.get(name);
  }

  /** Those of a credential or an account. A credential whose name was replaced may have one for each name. */
  of(id: string): ReadonlySet<Slot<Entry>> {
    return this.#byId.get(id) ?? NONE;
  }

  values(): IterableIterator<Slot<Entry>> {
    return this.#slots.values();
  }

  /** Replaces what was known of the entry's name. */
  set(entry: Entry, usedAt: number, round: number): void {
    const slot: Slot<Entry> = { entry, used: false, usedAt, round, changed: false };
    this.delete(entry.hash);
    if (this.#slots.size >= this.max) this.delete(this.#slots.keys().next().value!);
    this.#slots.set(entry.hash, slot);
    for (const id of [entry.credential.id, entry.account.id]) {
      const others = this.#byId.get(id);
      if (others) others.add(slot);
      else this.#byId.set(id, new Set([slot]));
    }
  }

  delete(name: string): void {
    const slot = this.#slots.get(name);
    if (!slot) return;
    this.#slots.delete(name);
    for (const { id } of [slot.entry.credential, slot.entry.account]) {
      const others = this.#byId.get(id);
      others?.delete(slot);
      if (others?.size === 0) this.#byId.delete(id);
    }
  }
}

const NONE: ReadonlySet<never> = new Set();
