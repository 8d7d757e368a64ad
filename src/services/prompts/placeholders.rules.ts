/** A placeholder in a text: `{{ name }}` from `start` to `end`. */
interface Placeholder {
  name: string;
  start: number;
  end: number;
}

const OPEN = '{{';
const CLOSE = '}}';
const UNDERSCORE = 0x5f;
const FIRST_ODD_SPACE = 0xa0;

const isLetter = (code: number): boolean => {
  const lower = code | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || code === UNDERSCORE;
};
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
/** All characters that JavaScript treats as white space: editors leave non-breaking spaces. */
const isSpace = (code: number): boolean =>
  code === 0x20 ||
  (code >= 0x09 && code <= 0x0d) ||
  (code >= FIRST_ODD_SPACE && String.fromCharCode(code).trim() === '');

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && isSpace(text.charCodeAt(at))) at++;
  return at;
}

function nameEnd(text: string, from: number): number {
  if (!isLetter(text.charCodeAt(from))) return from;
  let at = from + 1;
  while (at < text.length && (isLetter(text.charCodeAt(at)) || isDigit(text.charCodeAt(at)))) at++;
  return at;
}

/**
 * Every placeholder of a text, in order. One pass for any text: no character is read more than three times, because a
 * name contains no brace.
 */
export function* placeholders(text: string): Generator<Placeholder, void> {
  for (let start = text.indexOf(OPEN); start !== -1; ) {
    const from = skipSpace(text, start + OPEN.length);
    const to = nameEnd(text, from);
    const close = to === from ? to : skipSpace(text, to);
    if (to > from && text.startsWith(CLOSE, close)) {
      const end = close + CLOSE.length;
      yield { name: text.slice(from, to), start, end };
      start = text.indexOf(OPEN, end);
    } else {
      // `{{{ name }}`: the placeholder may begin one brace later.
      start = text.indexOf(OPEN, start + 1);
    }
  }
}

/** The distinct names of a text's placeholders, in order of first appearance. */
export function placeholderNames(text: string): string[] {
  const names = new Set<string>();
  for (const { name } of placeholders(text)) names.add(name);
  return [...names];
}
