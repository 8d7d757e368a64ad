import { performance } from 'node:perf_hooks';
import type { Duplex } from 'node:stream';
import { within } from '../../../lib/within.js';
import { notServing } from '../refusals.js';
import { FrameWriter } from './frame-writer.js';
import { type AnswerFrame, type FrameReader, type GrantFrame, LINE_VERSION, readFrames } from './frames.js';
import type { CounterWords, EdgeWords, MessageWords, VerdictWords } from './words.js';

/** A question to the counting process. */
interface Question<T> {
  readonly at: number;
  /** Nobody waits for the answer any longer. It counts all the same. */
  isGivenUp: boolean;
  answer(answer: T, isGivenUp: boolean): void;
  giveUp(error: Error): void;
}

/** If the counting process doesn't answer for this long, the machine is too busy to take more calls. */
const PATIENCE_MS = 1_000;
const CHECK_MS = 100;
const GOODBYE_MS = 1_000;
const OTHER_BUILD = 'the running edges are of another build: restart npm start';

/** An edge's line to the process that counts for all edges of this machine. */
export class CounterLink {
  readonly writer: FrameWriter;
  /**
   * Resolves when the counting process has first said whether calls may be admitted.
   * @throws Error if that process is of a build with other messages.
   */
  readonly ready: Promise<void>;
  edges = 1;
  onSpent: (minute: number, networks: readonly string[]) => void = () => undefined;
  onGrant: (grant: GrantFrame) => void = () => undefined;
  onRecall: (ref: number) => void = () => undefined;
  #mayAdmit = false;
  #isOver = false;
  #regained: () => void = () => undefined;
  /** Calls that wait for a verdict, oldest first. */
  readonly #calls: Question<AnswerFrame>[] = [];
  #nextCall = 0;
  /** Those whose decision follows, by the id that it will have. */
  readonly #later = new Map<number, Question<AnswerFrame>>();
  /** Questions for calls that are gathered, and those that are on their way. */
  #unsent = 0;
  #sent = 0;
  #isUrgent = false;
  readonly #messages = new Map<number, Question<VerdictWords>>();
  #lastMessage = 0;
  readonly #check: NodeJS.Timeout;

  constructor(
    private readonly stream: Duplex,
    private readonly patienceMs = PATIENCE_MS,
  ) {
    this.writer = new FrameWriter(stream, {
      // While an answer is on its way, further questions gather: the busier the machine, the more of them share a write.
      waits: () => this.#sent > 0,
      onFlush: () => {
        this.#sent += this.#unsent;
        this.#unsent = 0;
      },
    });
    this.ready = new Promise((resolve, reject) => {
      const reader: FrameReader = {
        answer: (answer) => this.#answered(answer),
        grant: (grant) => this.onGrant(grant),
        recall: (ref) => {
          this.onRecall(ref);
          // Somebody waits for it.
          this.#isUrgent = true;
        },
        words: (words) => {
          const said = words as CounterWords;
          if (said.kind === 'state' && said.version !== LINE_VERSION) reject(new Error(OTHER_BUILD));
          this.#hear(said);
          resolve();
        },
      };
      readFrames(stream, reader, () => {
        if (this.#sent > 0 && !this.#isUrgent) return;
        this.#isUrgent = false;
        this.writer.flush();
      });
    });
    stream.on('error', () => undefined);
    for (const event of ['end', 'close']) stream.once(event, () => this.#end());
    // What has arrived while the process was busy is read first: it may answer.
    this.#check = setInterval(() => setImmediate(() => this.#giveUp()), CHECK_MS);
    this.#check.unref();
  }

  /** Whether calls may be asked for: not while another edge of this database has the lock, nor while nobody answers. */
  mayAdmit(): boolean {
    return this.#mayAdmit && !this.#isOver && !this.#calls[this.#nextCall]?.isGivenUp;
  }

  /** Called when calls may be admitted again after another edge had the lock. */
  onRegained(listener: () => void): void {
    this.#regained = listener;
  }

  tell(words: EdgeWords): void {
    this.writer.words(words);
  }

  /** Registers a question that the caller has already written. */
  askedForCall(answer: Question<AnswerFrame>['answer'], giveUp: (error: Error) => void): void {
    this.#unsent++;
    this.#calls.push({ at: performance.now(), isGivenUp: false, answer, giveUp });
  }

  /**
   * Asks for a message of a widget. `late` is called with an answer for which nobody waits any longer.
   * @throws AdmissionError `service_unavailable`
   */
  askForMessage(
    words: Omit<MessageWords, 'kind' | 'question'>,
    late: (verdict: VerdictWords) => void,
  ): Promise<VerdictWords> {
    if (!this.mayAdmit()) return Promise.reject(notServing());
    const question = ++this.#lastMessage;
    this.tell({ kind: 'message', question, ...words });
    return new Promise((resolve, reject) => {
      this.#messages.set(question, {
        at: performance.now(),
        isGivenUp: false,
        answer: (verdict, isGivenUp) => (isGivenUp ? late(verdict) : resolve(verdict)),
        giveUp: reject,
      });
    });
  }

  /** Sends what is left and closes the line. */
  async stop(): Promise<void> {
    clearInterval(this.#check);
    this.writer.flush();
    if (this.#isOver) return;
    const said = new Promise<void>((done) => this.stream.end(done));
    await within(GOODBYE_MS, said).catch(() => undefined);
  }

  #hear(words: CounterWords): void {
    if (words.kind === 'spent') {
      this.onSpent(words.minute, words.networks);
    } else if (words.kind === 'verdict') {
      const question = this.#messages.get(words.question);
      this.#messages.delete(words.question);
      question?.answer(words, question.isGivenUp);
    } else {
      this.edges = words.edges;
      if (words.isRegained) this.#regained();
      this.#mayAdmit = words.mayAdmit;
    }
  }

  #answered(answer: AnswerFrame): void {
    const decided = answer.verdict === 'later' ? undefined : this.#later.get(answer.id);
    if (decided) {
      this.#later.delete(answer.id);
      decided.answer(answer, decided.isGivenUp);
      return;
    }
    this.#sent--;
    const call = this.#calls[this.#nextCall++]!;
    // Moved to the front now and then, so that a call costs the same however many wait.
    if (this.#nextCall === this.#calls.length || this.#nextCall > 1_000) {
      this.#calls.splice(0, this.#nextCall);
      this.#nextCall = 0;
    }
    if (answer.verdict === 'later') this.#later.set(answer.id, call);
    else call.answer(answer, call.isGivenUp);
  }

  *#unanswered(): Iterable<Question<never>> {
    yield* this.#calls.slice(this.#nextCall) as Question<never>[];
    yield* this.#later.values() as Iterable<Question<never>>;
    yield* this.#messages.values() as Iterable<Question<never>>;
  }

  #giveUp(before = performance.now() - this.patienceMs): void {
    for (const question of this.#unanswered()) {
      if (question.isGivenUp || question.at > before) continue;
      question.isGivenUp = true;
      question.giveUp(notServing());
    }
  }

  #end(): void {
    clearInterval(this.#check);
    this.#isOver = true;
    this.#giveUp(Number.POSITIVE_INFINITY);
  }
}
