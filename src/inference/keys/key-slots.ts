import type { Invalidation } from '../../db/invalidation.js';
import type { KeyEntry } from './key-states.js';

/** State of a key in addition to its row. */
export interface Slot {
  readonly entry: KeyEntry;
  /** Used since the last refresh: read again with the next one, however many there are. */
  used: boolean;
  /** When a call last asked for it, in milliseconds of the clock. */
  usedAt: number;
  /** The round of `suspectAll` in which it was read. */
  readonly round: number;
  /** Changed since it was read: not to be used, not even while the database is away. */
  changed: boolean;
}

/**
 * Entries by the hash of their key, the one that was read the longest ago leaving first, with an index by key and account: a
 * notification finds its entries without looking at the others.
 */
export class KeySlots {
  /** In the order in which they were read: a Map keeps it, and takes no room before there is something in it. */
  readonly #slots = new Map<string, Slot>();
  readonly #byKey = new Map<string, Slot>();
  readonly #byAccount = new Map<string, Set<Slot>>();
  #round = 0;

  constructor(private readonly max: number) {}

  get size(): number {
    return this.#slots.size;
  }

  /** Doesn't count as a use: keys in use are read again every few seconds, and `set` renews their place. */
  get(hash: string): Slot | undefined {
    return this.#slots.get(hash);
  }

  /** The key of an id, if it is known. */
  ofKey(id: string): KeyEntry | undefined {
    return this.#byKey.get(id)?.entry;
  }

  /** Replaces what was known of the key. */
  set(entry: KeyEntry): void {
    const usedAt = this.#slots.get(entry.hash)?.usedAt ?? entry.readAt;
    const slot: Slot = { entry, used: false, usedAt, round: this.#round, changed: false };
    // The old slot leaves the index first, since both have the same ids.
    this.delete(entry.hash);
    if (this.#slots.size >= this.max) this.delete(this.#slots.keys().next().value!);
    this.#slots.set(entry.hash, slot);
    this.#byKey.set(entry.credential.id, slot);
    const siblings = this.#byAccount.get(entry.account.id);
    if (siblings) siblings.add(slot);
    else this.#byAccount.set(entry.account.id, new Set([slot]));
  }

  delete(hash: string): void {
    const slot = this.#slots.get(hash);
    if (!slot) return;
    this.#slots.delete(hash);
    this.#unlink(slot);
  }

  /** Whether the row may have changed unnoticed: to be read again before its next use, if the database answers. */
  isSuspect(slot: Slot): boolean {
    return slot.round !== this.#round;
  }

  /** Outdates what a notification is about. @returns The key, where it is about one that is known. */
  outdate({ kind, id }: Exclude<Invalidation, { kind: 'catalog' }>): KeyEntry | undefined {
    if (kind === 'account') {
      for (const slot of this.#byAccount.get(id) ?? []) slot.changed = true;
      return undefined;
    }
    const slot = this.#byKey.get(id);
    if (slot) slot.changed = true;
    return slot?.entry;
  }

  /** Outdates the keys that have a guard, of these accounts or of all. */
  outdateGuarded(accountIds: readonly string[] | null): void {
    const lists = accountIds?.map((id) => this.#byAccount.get(id) ?? []) ?? [this.#slots.values()];
    for (const slots of lists) {
      for (const slot of slots) if (slot.entry.guard) slot.changed = true;
    }
  }

  suspectAll(): void {
    this.#round++;
  }

  values(): IterableIterator<Slot> {
    return this.#slots.values();
  }

  #unlink(slot: Slot): void {
    const { credential, account } = slot.entry;
    if (this.#byKey.get(credential.id) === slot) this.#byKey.delete(credential.id);
    const siblings = this.#byAccount.get(account.id);
    siblings?.delete(slot);
    if (siblings?.size === 0) this.#byAccount.delete(account.id);
  }
}
