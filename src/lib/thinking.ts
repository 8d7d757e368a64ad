/**
 * How models write their thinking in front of an answer, where their node doesn't take it out: Qwen, DeepSeek, GLM and most
 * others; EXAONE and Gemini; Seed; Magistral; Kimi; gpt-oss.
 */
const TAGS = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<thought>', '</thought>'],
  ['<seed:think>', '</seed:think>'],
  ['[THINK]', '[/THINK]'],
  ['◁think▷', '◁/think▷'],
  ['<|channel|>analysis<|message|>', '<|channel|>final<|message|>'],
] as const;

/** White space in front of an answer. More of it is the answer. */
const MOST_BLANKS = 1_000;

/** Separates the thinking in front of an answer from it, while its text comes in pieces. */
export class ThinkingFilter {
  thinking = '';
  #hasThought = false;
  /** What isn't known to be thinking or answer yet. */
  #held = '';
  /** The tag that ends the thinking under way. */
  #end: string | undefined;
  #answers = false;

  /** @param keeps Whether `thinking` is collected. */
  constructor(private readonly keeps = true) {}

  /** Whether the text so far ends within thinking. */
  get isThinking(): boolean {
    return this.#end !== undefined;
  }

  /** Takes the next piece of text. Returns what is the answer's of all that was held. */
  take(text: string): string {
    if (this.#answers) return text;
    this.#held += text;
    while (this.#end !== undefined || this.#begins()) {
      const end = this.#end!;
      const at = this.#held.indexOf(end);
      if (at < 0) {
        this.#think(this.#held.length - end.length + 1, 0);
        return '';
      }
      this.#think(at, end.length);
      this.#end = undefined;
    }
    const begun = this.#held.trimStart();
    if (this.#held.length <= MOST_BLANKS && TAGS.some(([tag]) => tag.startsWith(begun))) return '';
    this.#answers = true;
    return this.#hasThought ? begun : this.#held;
  }

  /** Ends the text. Returns what is the answer's of what was held. */
  rest(): string {
    if (this.#answers) return '';
    this.#answers = true;
    if (this.#end === undefined) return this.#hasThought ? this.#held.trimStart() : this.#held;
    this.#think(this.#held.length, 0);
    return '';
  }

  /** Whether thinking begins here. */
  #begins(): boolean {
    const begun = this.#held.trimStart();
    const tags = TAGS.find(([tag]) => begun.startsWith(tag));
    if (!tags) return false;
    this.#held = begun.slice(tags[0].length);
    this.#end = tags[1];
    return true;
  }

  /** Moves what is held up to an offset, and drops some characters behind it. */
  #think(to: number, dropped: number): void {
    if (to < 0) return;
    this.#hasThought ||= to > 0;
    if (this.keeps) this.thinking += this.#held.slice(0, to);
    this.#held = this.#held.slice(to + dropped);
  }
}

/** The end of thinking whose beginning belongs to the prompt, as in templates of DeepSeek R1. */
const LONE_END = '\n</think>\n';

/** Separates the thinking in front of an answer from it. */
export function splitThinking(text: string): { thinking: string; answer: string } {
  const filter = new ThinkingFilter();
  const answer = filter.take(text) + filter.rest();
  const end = filter.thinking === '' ? `${answer}\n`.indexOf(LONE_END) : -1;
  if (end < 0) return { thinking: filter.thinking.trim(), answer };
  return { thinking: answer.slice(0, end).trim(), answer: answer.slice(end + LONE_END.length).trimStart() };
}

/** Whether an answer that came to its end is thinking and nothing else, shown or not. */
export const isOnlyThinking = (answer: string, outputTokens: number, finishReason: string | null): boolean =>
  answer.trim() === '' && outputTokens > 0 && finishReason !== 'content_filter';
