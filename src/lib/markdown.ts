import { type Inline, readInline } from './markdown-inline.js';

/** A block of a Markdown text. */
export type Block =
  | { kind: 'paragraph'; children: Inline[] }
  | { kind: 'heading'; level: number; children: Inline[] }
  | { kind: 'code'; language: string; text: string }
  | { kind: 'quote'; children: Block[] }
  | { kind: 'list'; start: number | null; items: Block[][] }
  | { kind: 'table'; head: Inline[][]; rows: Inline[][][] }
  | { kind: 'rule' };

/** Deeper nesting is text, since rendering recurses once per level. */
const DEEPEST = 8;
const TAB = '    ';

const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?: |$)/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(?: +|$)/;

const indentOf = (line: string): number => line.length - line.trimStart().length;
const isBlank = (line: string): boolean => line.trim() === '';

function isRule(line: string): boolean {
  const signs = line.replaceAll(' ', '');
  const sign = signs[0];
  return (
    indentOf(line) < 4 &&
    signs.length >= 3 &&
    sign !== undefined &&
    '-*_'.includes(sign) &&
    signs === sign.repeat(signs.length)
  );
}

/** Whether a line ends the paragraph above it. */
const beginsBlock = (line: string): boolean =>
  FENCE.test(line) || HEADING.test(line) || QUOTE.test(line) || ITEM.test(line) || isRule(line);

/** Reads lines in order, each once per level of nesting. */
class BlockReader {
  private at = 0;
  private readonly blocks: Block[] = [];

  constructor(
    private readonly lines: readonly string[],
    private readonly depth: number,
  ) {}

  read(): Block[] {
    while (this.at < this.lines.length) {
      const line = this.lines[this.at]!;
      if (isBlank(line)) this.at++;
      else this.blocks.push(this.take(line));
    }
    return this.blocks;
  }

  private take(line: string): Block {
    const fence = FENCE.exec(line);
    if (fence) return this.takeCode(fence[1]!, fence[2]!, indentOf(line));
    const heading = HEADING.exec(line);
    if (heading) {
      this.at++;
      const words = line.slice(heading[0].length).trim();
      return { kind: 'heading', level: heading[1]!.length, children: readInline(words) };
    }
    if (isRule(line)) {
      this.at++;
      return { kind: 'rule' };
    }
    if (this.depth < DEEPEST) {
      if (QUOTE.test(line)) return this.takeQuote();
      if (ITEM.test(line)) return this.takeList();
    }
    return this.takeTable() ?? this.takeParagraph();
  }

  /** Takes a code block up to its closing fence, or to the end of an unfinished text. */
  private takeCode(fence: string, info: string, indent: number): Block {
    const text: string[] = [];
    for (this.at++; this.at < this.lines.length; this.at++) {
      const line = this.lines[this.at]!;
      const words = line.trim();
      if (words.length >= fence.length && words === fence[0]!.repeat(words.length)) {
        this.at++;
        break;
      }
      text.push(line.slice(Math.min(indent, indentOf(line))));
    }
    return { kind: 'code', language: info.trim().split(' ', 1)[0]!, text: text.join('\n') };
  }

  private takeQuote(): Block {
    const inner: string[] = [];
    for (; this.at < this.lines.length && QUOTE.test(this.lines[this.at]!); this.at++) {
      inner.push(this.lines[this.at]!.replace(QUOTE, ''));
    }
    return { kind: 'quote', children: new BlockReader(inner, this.depth + 1).read() };
  }

  private takeList(): Block {
    const [, , marker] = ITEM.exec(this.lines[this.at]!)!;
    const isOrdered = /\d/.test(marker!);
    const items: Block[][] = [];
    for (let found = ITEM.exec(this.lines[this.at]!); found && /\d/.test(found[2]!) === isOrdered; ) {
      items.push(this.takeItem(found[0].length));
      const next = this.lines[this.at];
      found = next === undefined || isRule(next) ? null : ITEM.exec(next);
    }
    return { kind: 'list', start: isOrdered ? Number.parseInt(marker!, 10) : null, items };
  }

  /** Takes a list item with all indented lines below it. */
  private takeItem(width: number): Block[] {
    const inner = [this.lines[this.at]!.slice(width)];
    for (this.at++; this.at < this.lines.length; this.at++) {
      const line = this.lines[this.at]!;
      const next = this.lines[this.at + 1];
      if (isBlank(line)) {
        // A blank line belongs to the item if the item continues after it.
        if (next === undefined || (indentOf(next) < 2 && !ITEM.test(next))) break;
        inner.push('');
        if (indentOf(next) < 2) {
          this.at++;
          break;
        }
      } else if (indentOf(line) >= 2) {
        inner.push(line.slice(Math.min(width, indentOf(line))));
      } else if (beginsBlock(line)) {
        break;
      } else {
        inner.push(line);
      }
    }
    return new BlockReader(inner, this.depth + 1).read();
  }

  private takeTable(): Block | undefined {
    const head = this.lines[this.at]!;
    const line = this.lines[this.at + 1];
    if (!head.includes('|') || line === undefined || !isTableLine(line)) return undefined;
    const columns = cellsOf(head);
    if (columns.length !== cellsOf(line).length) return undefined;
    const rows: Inline[][][] = [];
    for (this.at += 2; this.at < this.lines.length; this.at++) {
      const row = this.lines[this.at]!;
      if (isBlank(row) || !row.includes('|')) break;
      rows.push(fitted(cellsOf(row), columns.length).map(readInline));
    }
    return { kind: 'table', head: columns.map(readInline), rows };
  }

  private takeParagraph(): Block {
    const words = [this.lines[this.at++]!.trim()];
    while (this.at < this.lines.length) {
      const line = this.lines[this.at]!;
      if (isBlank(line) || beginsBlock(line)) break;
      words.push(line.trim());
      this.at++;
    }
    return { kind: 'paragraph', children: readInline(words.join('\n')) };
  }
}

/** `|---|:--:|` */
const isTableLine = (line: string): boolean =>
  line.includes('-') && line.includes('|') && [...line].every((sign) => '|:- '.includes(sign));

function cellsOf(line: string): string[] {
  const trimmed = line.trim();
  const from = trimmed.startsWith('|') ? 1 : 0;
  const to = trimmed.endsWith('|') && trimmed.length > 1 ? -1 : trimmed.length;
  return trimmed
    .slice(from, to)
    .split('|')
    .map((cell) => cell.trim());
}

/** Exactly one cell per column; surplus cells are joined into the last one. */
const fitted = (cells: readonly string[], columns: number): string[] =>
  Array.from({ length: columns }, (_, index) =>
    index === columns - 1 ? cells.slice(index).join(' | ') : (cells[index] ?? ''),
  );

/**
 * The blocks of a Markdown text: headings, paragraphs, lists, quotes, tables and code. An unfinished text, which is still being
 * written, is read as far as it goes.
 */
export const readMarkdown = (text: string): Block[] =>
  new BlockReader(text.replaceAll('\t', TAB).split(/\r\n|\n|\r/), 0).read();
