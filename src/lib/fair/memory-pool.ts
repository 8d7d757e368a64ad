/** Memory that owners share. An owner may hold at most 1/`part` of what remains free, so that there is always room for others. */
export class MemoryPool {
  #used = 0;
  readonly #owners = new Map<string, number>();

  constructor(
    readonly size: number,
    private readonly part: number,
  ) {}

  get used(): number {
    return this.#used;
  }

  /** A new, empty holding for one request, answer or message of an owner. */
  holding(owner: string): Holding {
    return new Holding(this, owner);
  }

  /** Whether the owner may hold `bytes` more. */
  hasRoom(owner: string, bytes: number, part = this.part): boolean {
    const own = (this.#owners.get(owner) ?? 0) + bytes;
    return own * part <= this.size - this.#used - bytes;
  }

  /** Counts bytes of an owner; a negative number gives them back. Only holdings call this. */
  count(owner: string, bytes: number): void {
    if (bytes === 0) return;
    this.#used += bytes;
    const own = (this.#owners.get(owner) ?? 0) + bytes;
    if (own > 0) this.#owners.set(owner, own);
    else this.#owners.delete(owner);
  }
}

/** A part of a pool, which grows and shrinks until it is released. */
export class Holding {
  #bytes = 0;

  constructor(
    private readonly pool: MemoryPool,
    private readonly owner: string,
  ) {}

  get bytes(): number {
    return this.#bytes;
  }

  hasRoom(bytes = 0): boolean {
    return this.pool.hasRoom(this.owner, bytes);
  }

  /** Takes bytes, if there is room. */
  take(bytes: number, part?: number): boolean {
    if (!this.pool.hasRoom(this.owner, bytes, part)) return false;
    this.add(bytes);
    return true;
  }

  /** Counts bytes that are in memory already, whether there is room or not. */
  add(bytes: number): void {
    this.#bytes += bytes;
    this.pool.count(this.owner, bytes);
  }

  /** Gives bytes back, at most all. */
  give(bytes: number): void {
    this.add(-Math.min(bytes, this.#bytes));
  }

  /** Gives everything back. */
  release(): void {
    this.add(-this.#bytes);
  }
}
