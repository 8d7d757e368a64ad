/** Reads what is new for an account since a position (`Moment`). */
export interface StreamSource<Moment, Row> {
  /** The current position. */
  begin(): Promise<Moment>;
  /** A limited number of new rows after a position, and the position after them. */
  advance(from: Moment): Promise<{ rows: readonly Row[]; to: Moment }>;
  /** Whether all rows read with the position have been delivered. */
  isWhole(moment: Moment): boolean;
}

/** A position in an account's stream. Followers at the same position read together. */
export interface Point<Moment, Row> {
  /** Undefined before the first read. */
  readonly moment: Moment | undefined;
  /** Number of the stream's read that saw the position. */
  readonly read: number;
  /** Number of signals received when that read began. */
  readonly heard: number;
  next: Promise<Step<Moment, Row>> | undefined;
}

export interface Step<Moment, Row> {
  rows: readonly Row[];
  to: Point<Moment, Row>;
}

/** Rows buffered for slow readers. Readers further behind read them again. */
const KEPT_ROWS = 2_000;

/**
 * The live events of one account, read once for any number of followers (docs/decisions/0074). Each follower is at a
 * point. The first one to ask for the next step reads it, and the others at that point get the same step. Points
 * without followers are garbage-collected.
 */
export class AccountStream<Moment, Row> {
  readonly #source: StreamSource<Moment, Row>;
  readonly #followers = new Set<() => void>();
  #newest: Point<Moment, Row> = { moment: undefined, read: 0, heard: 0, next: undefined };
  #reads = 0;
  #heard = 0;
  #kept: { from: Point<Moment, Row>; weight: number }[] = [];
  #keptWeight = 0;

  constructor(source: StreamSource<Moment, Row>) {
    this.#source = source;
  }

  get followers(): number {
    return this.#followers.size;
  }

  /** Something new may exist. */
  signal(): void {
    this.#heard++;
    this.#wake();
  }

  /** Adds a follower, which is woken when there may be something new. Returns a function that removes it. */
  follow(wake: () => void): () => void {
    this.#followers.add(wake);
    return () => this.#followers.delete(wake);
  }

  /** The first point that is read after this call. Followers that join together get the same point. */
  async join(): Promise<Point<Moment, Row>> {
    const before = this.#reads;
    let point = this.#newest;
    while (point.read <= before || !this.#isWhole(point)) point = (await this.step(point)).to;
    return point;
  }

  /** Whether nothing is known to be new after a point. */
  isIdle(point: Point<Moment, Row>): boolean {
    return point.next === undefined && point.heard === this.#heard && this.#isWhole(point);
  }

  /** The step after a point. @throws errors of the source; the next caller reads again. */
  step(from: Point<Moment, Row>): Promise<Step<Moment, Row>> {
    from.next ??= this.#read(from).catch((error: unknown) => {
      from.next = undefined;
      throw error;
    });
    return from.next;
  }

  #isWhole({ moment }: Point<Moment, Row>): boolean {
    return moment !== undefined && this.#source.isWhole(moment);
  }

  async #read(from: Point<Moment, Row>): Promise<Step<Moment, Row>> {
    const continues = from.moment !== undefined && !this.#isWhole(from);
    const read = continues ? from.read : ++this.#reads;
    const heard = continues ? from.heard : this.#heard;
    const { rows, to: moment } =
      from.moment === undefined
        ? { rows: [], to: await this.#source.begin() }
        : await this.#source.advance(from.moment);
    const to = { moment, read, heard, next: undefined };
    if (this.#isWhole(to) && read > this.#newest.read) this.#newest = to;
    this.#keep(from, rows.length);
    // For followers whose signal was lost.
    if (rows.length > 0) this.#wake();
    return { rows, to };
  }

  /** Releases rows that only the slowest followers still need. */
  #keep(from: Point<Moment, Row>, rows: number): void {
    // A step without rows takes memory too.
    const weight = Math.max(1, rows);
    this.#kept.push({ from, weight });
    this.#keptWeight += weight;
    while (this.#keptWeight > KEPT_ROWS && this.#kept.length > 1) {
      const oldest = this.#kept.shift()!;
      oldest.from.next = undefined;
      this.#keptWeight -= oldest.weight;
    }
  }

  #wake(): void {
    for (const wake of this.#followers) wake();
  }
}
