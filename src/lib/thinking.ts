/**
 * How models mark their thinking in front of an answer, if their node doesn't remove it: Qwen, DeepSeek, GLM and most others; EXAONE and
 * Gemini; Seed; Magistral; Kimi; gpt-oss.
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

/** Most white space in front of an answer. More than this is the answer. */
const MOST_BLANKS = 1_000;

/** Separates thinking from the answer after it, while the text arrives in pieces. */
export class ThinkingFilter {
  thinking = '';
  #hasThought = false;
  /** Text not yet known to be thinking or answer. */
  #undecided = '';
  /** The tag that ends the current thinking. */
  #end: string | undefined;
  #answers = false;

  /** @param keeps Whether to collect `thinking`. */
  constructor(private readonly keeps = true) {}

  /** Whether the text so far ends inside thinking. */
  get isThinking(): boolean {
    return this.#end !== undefined;
  }

  /** Takes the next piece of text. Returns the text that is now known to belong to the answer. */
  take(text: string): string {
    if (this.#answers) return text;
    this.#undecided += text;
    while (this.#end !== undefined || this.#begins()) {
      const end = this.#end!;
      const at = this.#undecided.indexOf(end);
      if (at < 0) {
        this.#think(this.#undecided.length - end.length + 1, 0);
        return '';
      }
      this.#think(at, end.length);
      this.#end = undefined;
    }
    const begun = this.#undecided.trimStart();
    if (this.#undecided.length <= MOST_BLANKS && TAGS.some(([tag]) => tag.startsWith(begun))) return '';
    this.#answers = true;
    return this.#hasThought ? begun : this.#undecided;
  }

  /** Ends the text. Returns the remaining text of the answer. */
  rest(): string {
    if (this.#answers) return '';
    this.#answers = true;
    if (this.#end === undefined) return this.#hasThought ? this.#undecided.trimStart() : this.#undecided;
    this.#think(this.#undecided.length, 0);
    return '';
  }

  /** Begins thinking if the undecided text starts with a tag. Returns whether it does. */
  #begins(): boolean {
    const begun = this.#undecided.trimStart();
    const tags = TAGS.find(([tag]) => begun.startsWith(tag));
    if (!tags) return false;
    this.#undecided = begun.slice(tags[0].length);
    this.#end = tags[1];
    return true;
  }

  /** Moves undecided text up to an offset to `thinking`, and drops some characters after it. */
  #think(to: number, dropped: number): void {
    if (to < 0) return;
    this.#hasThought ||= to > 0;
    if (this.keeps) this.thinking += this.#undecided.slice(0, to);
    this.#undecided = this.#undecided.slice(to + dropped);
  }
}

/** The end of thinking that began in the prompt, as in templates of DeepSeek R1. */
const LONE_END = '\n</think>\n';

/** Separates thinking from the answer after it. */
export function splitThinking(text: string): { thinking: string; answer: string } {
  const filter = new ThinkingFilter();
  const answer = filter.take(text) + filter.rest();
  const end = filter.thinking === '' ? `${answer}\n`.indexOf(LONE_END) : -1;
  if (end < 0) return { thinking: filter.thinking.trim(), answer };
  return { thinking: answer.slice(0, end).trim(), answer: answer.slice(end + LONE_END.length).trimStart() };
}

/** Whether a finished answer consists of thinking only, visible or not. */
export const isOnlyThinking = (answer: string, outputTokens: number, finishReason: string | null): boolean =>
  answer.trim() === '' && outputTokens > 0 && finishReason !== 'content_filter';
