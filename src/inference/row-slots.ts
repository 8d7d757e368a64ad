/** A cached entry with the state of its cache. */
export interface Slot<Entry> {
  readonly entry: Entry;
  /** Whether a call has used the entry since the last refresh. Then the next refresh reads its row. */
  used: boolean;
  /** When a call last used the entry, in milliseconds. */
  usedAt: number;
  /** How often `invalidateAll` had been called when the row was read. */
  readonly round: number;
  /** Whether the row has changed since. Then the entry isn't used, not even while the database is away. */
  changed: boolean;
}

/** The keys of an entry. */
interface Indexed {
  readonly hash: string;
  readonly credential: { readonly id: string };
  readonly account: { readonly id: string };
}

/** Slots by name and by the ids of credential and account. When full, drops the slot with the oldest reading. */
export class RowSlots<Entry extends Indexed> {
  /** In the order of their readings. */
  readonly #slots = new Map<string, Slot<Entry>>();
  readonly #byId = new Map<string, Set<Slot<Entry>>>();

  constructor(private readonly max: number) {}

  get size(): number {
    return this.#slots.size;
  }

  get(name: string): Slot<Entry> | undefined {
    return this.#slots.get(name);
  }

  /** The slots of a credential or an account. A credential whose name was replaced may have a slot for each name. */
  of(id: string): ReadonlySet<Slot<Entry>> {
    return this.#byId.get(id) ?? NONE;
  }

  values(): IterableIterator<Slot<Entry>> {
    return this.#slots.values();
  }

  /** Adds an entry, in place of any other with its name. */
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
