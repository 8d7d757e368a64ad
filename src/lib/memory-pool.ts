/** Memory that accounts share. */
export class MemoryPool {
  used = 0;
  readonly #accounts = new Map<string, number>();

  constructor(readonly size: number) {}

  /** What an account holds. */
  heldBy(accountId: string): number {
    return this.#accounts.get(accountId) ?? 0;
  }

  /** Takes `bytes`, if the account then holds at most a `part`-th of what is left: there is always room for others. */
  takePart(accountId: string, bytes: number, part: number): boolean {
    const own = this.heldBy(accountId) + bytes;
    const used = this.used + bytes;
    if (own * part > this.size - used) return false;
    this.used = used;
    this.#accounts.set(accountId, own);
    return true;
  }

  /** Gives back bytes that the account holds. */
  give(accountId: string, bytes: number): void {
    if (bytes === 0) return;
    this.used -= bytes;
    const left = this.heldBy(accountId) - bytes;
    if (left > 0) this.#accounts.set(accountId, left);
    else this.#accounts.delete(accountId);
  }
}
