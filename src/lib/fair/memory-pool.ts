/** Memory that accounts, or clients, share. */
export class MemoryPool {
  used = 0;
  readonly #held = new Map<string, number>();

  constructor(readonly size: number) {}

  /** Takes `bytes`, if the owner then holds at most a `part`-th of what is left: there is always room for others. */
  takePart(owner: string, bytes: number, part: number): boolean {
    const own = (this.#held.get(owner) ?? 0) + bytes;
    const used = this.used + bytes;
    if (own * part > this.size - used) return false;
    this.used = used;
    this.#held.set(owner, own);
    return true;
  }

  /** Gives back bytes that the owner holds. */
  give(owner: string, bytes: number): void {
    if (bytes === 0) return;
    this.used -= bytes;
    const left = this.#held.get(owner)! - bytes;
    if (left > 0) this.#held.set(owner, left);
    else this.#held.delete(owner);
  }
}
