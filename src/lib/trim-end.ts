/**
 * The text without the given character at its end. An expression such as `/0+$/` looks for the end from each zero that it
 * meets, which takes long for a text of many.
 */
export function trimEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}

/** An address or path that others are appended to. */
export const withoutEndSlashes = (text: string): string => trimEnd(text, '/');
