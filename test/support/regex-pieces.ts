/**
 * Parses a regular expression into pieces from which texts can be made. It supports what src uses of the language, and need not
 * know exactly what a piece matches, only a few texts that it matches.
 */

export type Piece =
  /** One character, with samples. */
  | { kind: 'characters'; samples: string[] }
  /** Matches no character: an anchor or a look-around. */
  | { kind: 'nothing' }
  | { kind: 'group'; branches: Piece[][] }
  | { kind: 'repeat'; piece: Piece; least: number; most: number };

const CLASSES: Record<string, string[]> = {
  d: ['1'],
  D: ['a', ' '],
  w: ['a', '1', '_'],
  W: [' ', '-'],
  s: [' ', '\n'],
  S: ['a', '-'],
};
const CONTROLS: Record<string, string> = { n: '\n', r: '\r', t: '\t', f: '\f', v: '\v', '0': '\0' };
const PROPERTIES: Record<string, string[]> = {
  L: ['a', 'é'],
  N: ['1'],
  Cc: ['\u0001'],
  Cf: ['\u200e'],
  Zl: ['\u2028'],
  Zp: ['\u2029'],
};
const ANY = ['a', '1', ' ', '-', '"', '/', '.'];

class Reader {
  #at = 0;
  readonly #groups: Piece[] = [];

  constructor(private readonly source: string) {}

  branches(): Piece[][] {
    const branches: Piece[][] = [[]];
    while (this.#at < this.source.length && this.source[this.#at] !== ')') {
      if (this.#take('|')) branches.push([]);
      else branches.at(-1)!.push(this.#repeated(this.#atom()));
    }
    return branches;
  }

  #take(text: string): boolean {
    if (!this.source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    const found = pattern.exec(this.source.slice(this.#at)) ?? undefined;
    this.#at += found?.[0].length ?? 0;
    return found;
  }

  #repeated(piece: Piece): Piece {
    const found = this.#match(/^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/);
    if (!found) return piece;
    const [, sign, low, comma, high] = found;
    const least = sign ? (sign === '+' ? 1 : 0) : Number(low);
    const most = sign === '?' ? 1 : sign || (comma && !high) ? Infinity : Number(high || low);
    return { kind: 'repeat', piece, least, most };
  }

  #atom(): Piece {
    if (this.#match(/^(?:\^|\$|\\[bB])/)) return { kind: 'nothing' };
    if (this.#take('.')) return { kind: 'characters', samples: ANY };
    if (this.#take('[')) return { kind: 'characters', samples: this.#class() };
    if (this.#take('(')) return this.#group();
    const reference = this.#match(/^\\([1-9])/);
    if (reference) return this.#groups[Number(reference[1]) - 1] ?? { kind: 'nothing' };
    return { kind: 'characters', samples: this.#character() };
  }

  #group(): Piece {
    const looksAround = this.#match(/^\?(?:=|!|<=|<!)/) !== undefined;
    const captures = !looksAround && !this.#match(/^\?(?::|<\w+>)/);
    const captured = captures || this.source[this.#at - 1] === '>';
    const place = captured ? this.#groups.push({ kind: 'nothing' }) - 1 : -1;
    const group: Piece = { kind: 'group', branches: this.branches() };
    if (!this.#take(')')) throw new Error(`no end of a group in ${this.source}`);
    if (place >= 0) this.#groups[place] = group;
    // The text in a look-around is of the same kind, and worth repeating, too.
    return looksAround ? { kind: 'repeat', piece: group, least: 0, most: 1 } : group;
  }

  /** Samples of an escape or of a literal character. */
  #character(): string[] {
    if (!this.#take('\\')) return [this.#next()];
    const property = this.#match(/^[pP]\{(\w+)\}/);
    if (property) return PROPERTIES[property[1]!] ?? ANY;
    const code = this.#match(/^(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))/);
    if (code) return [String.fromCodePoint(Number.parseInt(code[1] ?? code[2] ?? code[3]!, 16))];
    const escaped = this.#next();
    return CLASSES[escaped] ?? [CONTROLS[escaped] ?? escaped];
  }

  #next(): string {
    const [character] = this.source.slice(this.#at);
    this.#at += character!.length;
    return character!;
  }

  #class(): string[] {
    const negated = this.#take('^');
    const inside: string[] = [];
    while (!this.#take(']')) {
      inside.push(...this.#character());
      if (this.source[this.#at] !== '-' || this.source[this.#at + 1] === ']') continue;
      this.#at++;
      inside.push(...this.#character());
    }
    if (!negated) return inside;
    const outside = ANY.filter((character) => !inside.includes(character));
    return outside.length > 0 ? outside : ['\u00e9'];
  }
}

/** The branches of a regular expression's source. */
export const piecesOf = (source: string): Piece[][] => new Reader(source).branches();
