import type { AnswerStream } from './answer-stream';
import type { Question, Saved, ToLoader, Trouble, Turn } from './protocol';
import type { View } from './view';
import { endsConversation, explain } from './words';

/** What the gateway accepts of a conversation. */
const MAX_MESSAGES = 50;
const MAX_MESSAGE_CHARACTERS = 8_000;
const MAX_CHARACTERS = 32_000;
/** An answer without a new part for so long may be stuck. */
const STALLED_MS = 20_000;

interface Deps {
  view: View;
  tell(message: ToLoader): void;
  makeStream(): AnswerStream;
}

const lengthOf = ({ content }: Turn): number => [...content].length;

/** The latest messages that fit, beginning with one of the user, and how many were dropped. The last message is always kept. */
function latest(turns: readonly Turn[], maxCharacters: number): Pick<Question, 'messages' | 'offset'> {
  let from = turns.length - 1;
  let characters = lengthOf(turns[from]!);
  while (from > 0 && turns.length - from < MAX_MESSAGES) {
    const length = lengthOf(turns[from - 1]!);
    if (length > MAX_MESSAGE_CHARACTERS || characters + length > maxCharacters) break;
    characters += length;
    from--;
  }
  if (turns[from]!.role === 'assistant') from++;
  return { messages: turns.slice(from), offset: from };
}

/** One conversation: its messages, and the answer that is under way. */
export class Conversation {
  #turns: Turn[];
  #session: string | undefined;
  /** Why it can't go on; undefined while it can. */
  #over: Trouble | undefined;
  #id = 0;
  /** How much of the conversation is sent: less after the model has refused more. */
  #maxCharacters = MAX_CHARACTERS;
  /** The messages that were sent last, and their limit if that was another try with less. */
  #asked: readonly Turn[] = [];
  #shortened: number | undefined;
  #stream: AnswerStream | undefined;
  /** Messages of the page that came while an answer was under way. */
  #waiting: string[] = [];
  #stalled: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly deps: Deps,
    { turns, session, end }: Saved,
  ) {
    this.#turns = turns;
    this.#session = session;
    this.#over = end;
    for (const turn of turns) deps.view.add(turn);
    // If the question hadn't failed, the page was left before the answer came.
    if (turns.at(-1)?.role === 'user') deps.view.trouble(explain(end ?? { code: 'cut' }));
  }

  say(text: string): void {
    const content = whole([...text.trim()].slice(0, MAX_MESSAGE_CHARACTERS).join('')).trim();
    if (content === '') return;
    if (this.#stream) {
      this.#waiting.push(content);
      return;
    }
    // A question without an answer is joined with the next one.
    const last = this.#turns.at(-1);
    if (last?.role === 'user') this.#turns.pop();
    const turn: Turn = {
      role: 'user',
      content: last?.role === 'user' ? joined(last.content, content) : content,
    };
    this.#turns.push(turn);
    this.deps.view.add({ role: 'user', content });
    this.#ask();
  }

  /** Asks the last question again. */
  retry(): void {
    if (this.#stream) this.#leave();
    if (this.#turns.at(-1)?.role === 'user') this.#ask();
  }

  clear(): void {
    if (this.#stream) this.#leave();
    this.#turns = [];
    this.#waiting = [];
    this.#session = undefined;
    this.#over = undefined;
    this.#maxCharacters = MAX_CHARACTERS;
    this.deps.view.clear();
    this.#save();
  }

  chunk(id: number, text: string): void {
    if (id !== this.#id || !this.#stream) return;
    if (!this.#stream.push(text)) return;
    this.deps.view.calm();
    this.#watch();
    this.deps.view.grow(this.#stream.text);
  }

  done(id: number): void {
    if (id !== this.#id || !this.#stream) return;
    const { text, complete, failure, session, mac } = this.#stream;
    if (!complete || text.trim() === '') {
      this.failed(id, { code: failure ?? (complete ? 'empty' : 'cut') });
      return;
    }
    this.#end();
    this.#maxCharacters = this.#shortened ?? this.#maxCharacters;
    this.#session = session ?? this.#session;
    this.#turns.push({ role: 'assistant', content: text, ...(mac !== undefined && { mac }) });
    // The answer may have been complete long before its stream ended.
    this.deps.view.calm();
    this.deps.view.finish(text);
    this.deps.tell({ v: 1, type: 'answered', text });
    this.#save();
    this.#sayNext();
  }

  failed(id: number, trouble: Trouble): void {
    if (id !== this.#id || !this.#stream) return;
    this.#end();
    this.deps.view.drop();
    if (trouble.code === 'invalid_request' && this.#askShortened()) return;
    this.deps.view.trouble(explain(trouble));
    if (endsConversation(trouble)) {
      this.#over = trouble;
      this.#save();
    }
    this.#sayNext();
  }

  /** Shows that nothing has come for a while. Later parts are still accepted. */
  #watch(): void {
    clearTimeout(this.#stalled);
    this.#stalled = setTimeout(() => this.deps.view.trouble(explain({ code: 'stalled' })), STALLED_MS);
  }

  #end(): void {
    clearTimeout(this.#stalled);
    this.#stream = undefined;
  }

  /** Stops the answer that is under way. */
  #leave(): void {
    this.deps.tell({ v: 1, type: 'stop', id: this.#id });
    this.#end();
    this.deps.view.drop();
  }

  #sayNext(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) this.say(next);
  }

  /** Asks again with the newer half: all of it may exceed the model's context. @returns whether it did */
  #askShortened(): boolean {
    const most = this.#asked.reduce((characters, turn) => characters + lengthOf(turn), 0) / 2;
    const isLess = latest(this.#turns, most).messages.length < this.#asked.length;
    if (this.#shortened !== undefined || !isLess) return false;
    this.#ask(most);
    return true;
  }

  /** `shortened`: the character limit of another try. */
  #ask(shortened?: number): void {
    const { view, tell, makeStream } = this.deps;
    const asked = latest(this.#turns, shortened ?? this.#maxCharacters);
    this.#asked = asked.messages;
    this.#shortened = shortened;
    this.#over = undefined;
    this.#stream = makeStream();
    view.begin();
    this.#watch();
    this.#save();
    const session = this.#session === undefined ? {} : { session_id: this.#session };
    tell({ v: 1, type: 'ask', id: ++this.#id, question: { ...asked, ...session } });
  }

  #save(): void {
    const session = this.#session === undefined ? {} : { session: this.#session };
    const end = this.#over === undefined ? {} : { end: this.#over };
    this.deps.tell({ v: 1, type: 'save', saved: { turns: this.#turns, ...session, ...end } });
  }
}

const joined = (one: string, other: string): string =>
  whole([...`${one}\n${other}`].slice(-MAX_MESSAGE_CHARACTERS).join(''));

/** A text without lone surrogates, which a cut by the page may leave and the gateway refuses. */
function whole(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '');
}
