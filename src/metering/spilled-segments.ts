/** What a segment holds of events that are nowhere else. */
export interface SpilledSegment {
  readonly number: number;
  events: number;
  /** Position and time of the oldest. */
  readonly position: number;
  readonly since: number;
}

/** Segments with events that stay on the disk only until memory has room. */
export class SpilledSegments {
  /** By number, oldest first. */
  readonly #segments = new Map<number, SpilledSegment>();
  /** Ids of events in memory that a segment holds as well, since the disk was in doubt about them. */
  readonly #copies = new Map<number, Set<string>>();

  get size(): number {
    return this.#segments.size;
  }

  /** How many events are on the disk only. */
  get events(): number {
    let sum = 0;
    for (const { events } of this.#segments.values()) sum += events;
    return sum;
  }

  /** The segment to read next. */
  get oldest(): SpilledSegment | undefined {
    return this.#segments.values().next().value;
  }

  /** Whether an event of a position up to this one is on the disk only. */
  reaches(position: number): boolean {
    for (const segment of this.#segments.values()) if (segment.position <= position) return true;
    return false;
  }

  add(number: number, position: number, since: number): void {
    const known = this.#segments.get(number);
    if (known) known.events++;
    else this.#segments.set(number, { number, events: 1, position, since });
  }

  /** Notes an event of a segment that is not to be read from it. */
  addCopy(number: number, id: string): void {
    const known = this.#copies.get(number);
    if (known) known.add(id);
    else this.#copies.set(number, new Set([id]));
  }

  isCopy(number: number, id: string): boolean {
    return this.#copies.get(number)?.has(id) ?? false;
  }

  /** The events of a segment are in memory now, or lost. */
  delete(number: number): void {
    this.#segments.delete(number);
    this.#copies.delete(number);
  }

  /** From now on nothing is left on the disk only: segments without spilled events are never read. */
  forgetCopies(): void {
    for (const number of this.#copies.keys()) if (!this.#segments.has(number)) this.#copies.delete(number);
  }
}
