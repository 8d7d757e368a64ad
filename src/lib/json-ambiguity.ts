/** Deeper than any body of our API. Recursive parsers fail at a few thousand levels. */
const MAX_DEPTH = 64;
const MAX_SHOWN_NAME = 60;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Index of the closing quote of the string that opens at `from`. */
function stringEnd(json: string, from: number): number {
  for (let at = json.indexOf('"', from + 1); ; at = json.indexOf('"', at + 1)) {
    let escapes = 0;
    while (json.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return at;
  }
}

function nameAt(json: string, from: number, end: number): string {
  const text = json.slice(from + 1, end);
  return text.includes('\\') ? (JSON.parse(json.slice(from, end + 1)) as string) : text;
}

/**
 * Why two parsers could read different values from valid JSON, or undefined: an object at any depth with a duplicate name, or too deep
 * nesting. Takes one pass.
 */
export function jsonAmbiguity(json: string): string | undefined {
  /** For each open bracket: the names so far, or null for an array. */
  const open: (Set<string> | null)[] = [];
  let nameNext = false;
  for (let at = 0; at < json.length; at++) {
    switch (json.charCodeAt(at)) {
      case QUOTE: {
        const end = stringEnd(json, at);
        if (nameNext) {
          const names = open.at(-1)!;
          const name = nameAt(json, at, end);
          if (names.has(name)) return `"${name.slice(0, MAX_SHOWN_NAME)}" appears twice in one object`;
          names.add(name);
          nameNext = false;
        }
        at = end;
        break;
      }
      case 0x7b: // {
      case 0x5b: // [
        nameNext = json[at] === '{';
        if (open.push(nameNext ? new Set() : null) > MAX_DEPTH) {
          return `it is nested deeper than ${MAX_DEPTH} levels`;
        }
        break;
      case 0x7d: // }
      case 0x5d: // ]
        open.pop();
        nameNext = false;
        break;
      case 0x2c: // ,
        nameNext = open.at(-1) !== null;
        break;
    }
  }
  return undefined;
}
