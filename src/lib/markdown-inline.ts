/** A piece of a line of Markdown. HTML is text, and an image is a link: a text must not cause a request. */
export type Inline =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'strong' | 'emphasis' | 'struck'; children: Inline[] }
  | { kind: 'link'; href: string; isImage: boolean; children: Inline[] };

type Marked = 'strong' | 'emphasis' | 'struck';

/** Emphasis that was opened and not yet closed. */
interface Open {
  /** One or two of `*` or `_`, or `~~`. */
  marker: string;
  children: Inline[];
}

/** Deeper nesting is text, since rendering recurses once per level. */
const MOST_OPEN = 20;
/** Most characters of a link's text and of its address. */
const LONGEST_WORDS = 300;
const LONGEST_ADDRESS = 2_000;

const ESCAPABLE = '\\`*_{}[]()#+-.!|~<>';
const SCHEMES = ['https://', 'http://', 'mailto:'];

const isSpace = (character: string | undefined): boolean =>
  character === undefined || character.trim() === '';
const isWordly = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{N}]/u.test(character);

/** Reads a text in one pass, in linear time. */
class InlineReader {
  private at = 0;
  private plain = '';
  private readonly special = /[\\`*_~![]|http/g;
  private readonly root: Inline[] = [];
  private readonly open: Open[] = [];
  /** Lengths of runs of backticks that are not closed in the rest of the text. */
  private readonly endless = new Set<number>();

  constructor(private readonly text: string) {}

  read(): Inline[] {
    while (this.at < this.text.length) {
      if (!this.takeSpecial()) this.takePlain();
    }
    while (this.open.length > 0) this.giveUp();
    this.endText();
    return this.root;
  }

  /** Takes plain text up to the next special character. */
  private takePlain(): void {
    this.special.lastIndex = this.at + 1;
    const next = this.special.exec(this.text)?.index ?? this.text.length;
    this.plain += this.text.slice(this.at, next);
    this.at = next;
  }

  private takeSpecial(): boolean {
    switch (this.text[this.at]) {
      case '\\':
        return this.takeEscape();
      case '`':
        return this.takeCode();
      case '*':
      case '_':
      case '~':
        return this.takeMarkers();
      case '!':
        return this.text[this.at + 1] === '[' && this.takeLink(this.at + 1, true);
      case '[':
        return this.takeLink(this.at, false);
      case 'h':
        return this.takeBareAddress();
      default:
        return false;
    }
  }

  private children(): Inline[] {
    return this.open.at(-1)?.children ?? this.root;
  }

  private endText(): void {
    if (this.plain !== '') this.children().push({ kind: 'text', text: this.plain });
    this.plain = '';
  }

  private add(piece: Inline, end: number): true {
    this.endText();
    this.children().push(piece);
    this.at = end;
    return true;
  }

  private takeEscape(): boolean {
    const next = this.text[this.at + 1];
    if (next === undefined || !ESCAPABLE.includes(next)) return false;
    this.plain += next;
    this.at += 2;
    return true;
  }

  private runLength(from: number): number {
    let end = from + 1;
    while (this.text[end] === this.text[from]) end++;
    return end - from;
  }

  private takeCode(): boolean {
    const length = this.runLength(this.at);
    const start = this.at + length;
    if (!this.endless.has(length)) {
      for (let end = this.text.indexOf('`', start); end !== -1; ) {
        const found = this.runLength(end);
        if (found === length) return this.add(codeOf(this.text.slice(start, end)), end + found);
        end = this.text.indexOf('`', end + found);
      }
      this.endless.add(length);
    }
    this.plain += this.text.slice(this.at, start);
    this.at = start;
    return true;
  }

  /** Takes a run of `*`, `_` or `~`: closes what it can, then opens what it can. */
  private takeMarkers(): boolean {
    const sign = this.text[this.at]!;
    let left = this.runLength(this.at);
    const before = this.text[this.at - 1];
    const after = this.text[this.at + left];
    // `snake_case` contains no emphasis.
    const canEnd = !isSpace(before) && !(sign === '_' && isWordly(after));
    const canBegin = !isSpace(after) && !(sign === '_' && isWordly(before));
    this.at += left;
    while (canEnd && left > 0) {
      const marker = this.open.findLast(({ marker: one }) => one.startsWith(sign))?.marker;
      if (!marker || marker.length > left) break;
      this.end(marker);
      left -= marker.length;
    }
    while (canBegin && left > 0 && this.open.length < MOST_OPEN) {
      const length = left >= 2 ? 2 : 1;
      if (sign === '~' && length === 1) break;
      this.endText();
      this.open.push({ marker: sign.repeat(length), children: [] });
      left -= length;
    }
    this.plain += sign.repeat(left);
    return true;
  }

  private end(marker: string): void {
    while (this.open.at(-1)!.marker !== marker) this.giveUp();
    this.endText();
    const { children } = this.open.pop()!;
    const kind: Marked = marker.startsWith('~') ? 'struck' : marker.length === 2 ? 'strong' : 'emphasis';
    this.children().push({ kind, children });
  }

  /** Turns the innermost open marker, which is never closed, into text. */
  private giveUp(): void {
    this.endText();
    const { marker, children } = this.open.pop()!;
    this.children().push({ kind: 'text', text: marker }, ...children);
  }

  private takeLink(bracket: number, isImage: boolean): boolean {
    const close = this.closing(bracket, ['[', ']'], LONGEST_WORDS);
    if (close === undefined || this.text[close + 1] !== '(') return false;
    const end = this.closing(close + 1, ['(', ')'], LONGEST_ADDRESS);
    if (end === undefined) return false;
    const href = addressOf(this.text.slice(close + 2, end));
    if (href === undefined) return false;
    const words = this.text.slice(bracket + 1, close);
    const text = words.trim() === '' ? href : words;
    return this.add({ kind: 'link', href, isImage, children: [{ kind: 'text', text }] }, end + 1);
  }

  /** Offset of the closing bracket, counting nested brackets. */
  private closing(
    from: number,
    [opening, closing]: readonly [string, string],
    longest: number,
  ): number | undefined {
    let depth = 0;
    const most = Math.min(this.text.length, from + longest);
    for (let at = from; at < most; at++) {
      if (this.text[at] === '\\') at++;
      else if (this.text[at] === opening) depth++;
      else if (this.text[at] === closing && --depth === 0) return at;
    }
    return undefined;
  }

  private takeBareAddress(): boolean {
    if (isWordly(this.text[this.at - 1])) return false;
    const scheme = SCHEMES.find((one) => one.startsWith('http') && this.text.startsWith(one, this.at));
    if (!scheme) return false;
    let end = this.at + scheme.length;
    while (!isSpace(this.text[end]) && !'<>"`'.includes(this.text[end]!)) end++;
    while (".,;:!?)]*_'’".includes(this.text[end - 1]!)) end--;
    if (end <= this.at + scheme.length) return false;
    const href = this.text.slice(this.at, end);
    return this.add({ kind: 'link', href, isImage: false, children: [{ kind: 'text', text: href }] }, end);
  }
}

/** One space at both ends only separates backticks, and is removed. */
function codeOf(text: string): Inline {
  const isPadded = text.startsWith(' ') && text.endsWith(' ') && text.trim() !== '';
  return { kind: 'code', text: isPadded ? text.slice(1, -1) : text };
}

/** The address of a link without its title; undefined if a browser must not open it. */
function addressOf(inner: string): string | undefined {
  const [address = ''] = inner.trim().split(/\s/, 1);
  const bare = address.startsWith('<') && address.endsWith('>') ? address.slice(1, -1) : address;
  return SCHEMES.some((scheme) => bare.toLowerCase().startsWith(scheme)) ? bare : undefined;
}

/** Reads a text without blocks. */
export const readInline = (text: string): Inline[] => new InlineReader(text).read();
