/** Reads what is new for an account, from one moment to the next. */
export interface StreamSource<Moment, Row> {
  /** The moment of now. */
  begin(): Promise<Moment>;
  /** What is new behind a moment, a bounded piece of it, and the moment behind that. */
  advance(from: Moment): Promise<{ rows: readonly Row[]; to: Moment }>;
  /** Whether all that was read with the moment has been handed out. */
  isWhole(moment: Moment): boolean;
}

/** A position in an account's stream. Followers at the same position read together. */
export interface Point<Moment, Row> {
  /** Undefined before anything was read. */
  readonly moment: Moment | undefined;
  /** Which read, counted by the stream, saw the moment. */
  readonly read: number;
  /** How many signals had come when that read began. */
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
 * What one account is told live, read once however many follow (docs/decisions/0074). Each follower stands at a point; the
 * first who asks what comes behind it reads, and the others there get the same. Points that everybody has left are
 * garbage.
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

  /** Something new may be there. */
  signal(): void {
    this.#heard++;
    this.#wake();
  }

  /** Adds a follower, which is woken when there may be something new. Returns a function that removes it. */
  follow(wake: () => void): () => void {
    this.#followers.add(wake);
    return () => this.#followers.delete(wake);
  }

  /** The first point that was read after now. Those who come together get the same. */
  async join(): Promise<Point<Moment, Row>> {
    const before = this.#reads;
    let point = this.#newest;
    while (point.read <= before || !this.#isWhole(point)) point = (await this.step(point)).to;
    return point;
  }

  /** Whether nothing is known to lie behind a point. */
  isIdle(point: Point<Moment, Row>): boolean {
    return point.next === undefined && point.heard === this.#heard && this.#isWhole(point);
  }

  /** What lies behind a point. @throws whatever the source throws; the next who asks reads again. */
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
    // For readers whose signal was lost.
    if (rows.length > 0) this.#wake();
    return { rows, to };
  }

  /** Lets go of what only the slowest still need. */
  #keep(from: Point<Moment, Row>, rows: number): void {
    // A step without rows is something to keep as well.
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
