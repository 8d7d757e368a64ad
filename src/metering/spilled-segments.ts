/** A segment with events that are on the disk only. */
export interface SpilledSegment {
  readonly number: number;
  events: number;
  /** Position and time of its oldest event. */
  readonly position: number;
  readonly since: number;
}

/** Tracks the events that stay on the disk until memory has room. */
export class SpilledSegments {
  /** By segment number, oldest first. */
  readonly #segments = new Map<number, SpilledSegment>();
  /** By segment number, ids of events that are also in memory: their former segment may not have reached the disk. */
  readonly #copies = new Map<number, Set<string>>();

  get size(): number {
    return this.#segments.size;
  }

  /** Number of events on the disk only. */
  get events(): number {
    let sum = 0;
    for (const { events } of this.#segments.values()) sum += events;
    return sum;
  }

  /** The segment to read next. */
  get oldest(): SpilledSegment | undefined {
    return this.#segments.values().next().value;
  }

  /** Whether an event up to `position` is on the disk only. */
  reaches(position: number): boolean {
    for (const segment of this.#segments.values()) if (segment.position <= position) return true;
    return false;
  }

  add(number: number, position: number, since: number): void {
    const known = this.#segments.get(number);
    if (known) known.events++;
    else this.#segments.set(number, { number, events: 1, position, since });
  }

  /** Marks an event that must not be read from the segment. */
  addCopy(number: number, id: string): void {
    const known = this.#copies.get(number);
    if (known) known.add(id);
    else this.#copies.set(number, new Set([id]));
  }

  isCopy(number: number, id: string): boolean {
    return this.#copies.get(number)?.has(id) ?? false;
  }

  /** Forgets a segment whose events are in memory now, or lost. */
  delete(number: number): void {
    this.#segments.delete(number);
    this.#copies.delete(number);
  }

  /** Forgets the copies in segments without spilled events, which are never read. */
  forgetCopies(): void {
    for (const number of this.#copies.keys()) if (!this.#segments.has(number)) this.#copies.delete(number);
  }
}
