/** Shortest run of bytes that a message and a request share only because one quotes the other. */
const RUN = 16;
/** Of a quoted string, or of a whole text of the request. Shorter ones are common words. */
const SHORT = 8;
/** Beginning of a quoted string that is compared: its end may be cut. */
const BEGINNING = 12;
const BASE = 31;
const TOP = Array.from({ length: RUN }).reduce<number>((power) => Math.imul(power, BASE), 1);

const ONE_WORD = /^[\w./-]{1,64}$/;
/** Members whose values are words of the API, and names that error messages need. */
const WORDS = new Set(['role', 'type', 'model', 'format', 'required', 'encoding_format', 'tool_choice']);
const NAMED = new Set(['function', 'functions', 'tools', 'json_schema', 'tool_choice']);

const ESCAPED = /\\u([0-9a-f]{4})|\\x([0-9a-f]{2})/gi;
const ESCAPED_SPACE = /\\[nrtbfv0]|&#?\w{1,8};|%[0-9a-f]{2}|[ĠĊ▁]/gi;
const NOT_LETTERS = /[^\p{L}\p{N}]+/gu;

/**
 * A text without what quoting may change: case, space, punctuation and escapes of JSON, Python, URLs and HTML. One character for
 * each byte of UTF-8, since seven characters of Chinese say as much as twenty letters.
 */
function bareText(text: string): string {
  const bare = text
    .normalize('NFKC')
    .replace(ESCAPED, (_, json?: string, byte?: string) =>
      String.fromCharCode(Number.parseInt((json ?? byte)!, 16)),
    )
    .replace(ESCAPED_SPACE, ' ')
    .toLowerCase()
    .replace(NOT_LETTERS, '');
  return Buffer.from(bare).toString('latin1');
}

function collect(value: unknown, name: string, parent: string, texts: string[]): void {
  if (typeof value === 'string') {
    const isWord = WORDS.has(name) || (name === 'name' && NAMED.has(parent));
    if (!isWord || !ONE_WORD.test(value)) texts.push(value);
  } else if (Array.isArray(value)) {
    // A prompt as tokens.
    if (typeof value[0] === 'number') texts.push(value.join(' '));
    else for (const item of value) collect(item, name, parent, texts);
  } else if (typeof value === 'object' && value !== null) {
    for (const [member, inner] of Object.entries(value)) {
      // The API's own names are single words.
      if (!ONE_WORD.test(member)) texts.push(member);
      collect(inner, member, name, texts);
    }
  }
}

/** Hashes of all runs of a text, in one pass. `found` returns true to stop. */
function eachRun(text: string, found: (hash: number) => boolean): boolean {
  let hash = 0;
  for (let at = 0; at < text.length; at++) {
    hash = (Math.imul(hash, BASE) + text.charCodeAt(at)) | 0;
    if (at >= RUN) hash = (hash - Math.imul(TOP, text.charCodeAt(at - RUN))) | 0;
    if (at >= RUN - 1 && found(hash)) return true;
  }
  return false;
}

/** The texts of one request, for comparison with a message that may quote them. */
export class RequestTexts {
  readonly #texts: ReadonlySet<string>;
  readonly #all: string;
  readonly #short: readonly string[];
  readonly #runs: ReadonlySet<number>;

  /** @throws SyntaxError when the body isn't JSON */
  constructor(body: Buffer, message: string) {
    const texts: string[] = [];
    collect(JSON.parse(body.toString()), '', '', texts);
    this.#texts = new Set(texts.map(bareText).filter(Boolean));
    this.#all = [...this.#texts].join('\n');
    this.#short = [...this.#texts].filter(({ length }) => length >= SHORT && length < RUN);
    const asked = new Set<number>();
    eachRun(bareText(message), (hash) => {
      asked.add(hash);
      return false;
    });
    const shared = new Set<number>();
    for (const text of this.#texts) {
      eachRun(text, (hash) => {
        if (asked.has(hash)) shared.add(hash);
        return false;
      });
    }
    this.#runs = shared;
  }

  /** Whether a part of the message shares a run with a text. */
  sharesRun(part: string): boolean {
    return eachRun(bareText(part), (hash) => this.#runs.has(hash));
  }

  /** Whether a part of the message shares a run with a text, lies in one, or has a whole one in it. */
  quotes(part: string): boolean {
    const bare = bareText(part);
    if (bare === '') return false;
    return (
      this.sharesRun(part) || this.#all.includes(bare) || this.#short.some((text) => bare.includes(text))
    );
  }

  /** Whether a quoted string is a text, or the beginning of a piece of one. */
  isQuoted(quoted: string): boolean {
    return quoted.split(/\.{2,3}|…/).some((piece) => {
      const bare = bareText(piece);
      return bare.length < SHORT ? this.#texts.has(bare) : this.#all.includes(bare.slice(0, BEGINNING));
    });
  }

  /** Whether a text goes on where a part of the message begins or ends. */
  touches(part: string, end: 'begins' | 'ends'): boolean {
    const bare = bareText(part);
    return this.#all.includes(end === 'begins' ? bare.slice(0, SHORT) : bare.slice(-SHORT));
  }
}
