/**
 * Removes the given character from the end of a text. An expression such as `/0+$/` searches from each zero, which takes quadratic time
 * for many zeros.
 */
export function trimEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}

/** An address or path to which others can be appended. */
export const withoutEndSlashes = (text: string): string => trimEnd(text, '/');
