/** How many characters a text has. An emoji is one, though two code units. */
export function characters(text: string): number {
  let count = 0;
  for (const _character of text) count++;
  return count;
}

/** Whether a text has at most so many characters. It reads no more of a long one than it has to. */
export const fitsCharacters = (text: string, most: number): boolean =>
  // Whatever is longer than twice the bound in code units is longer than the bound in characters.
  text.length <= most || (text.length <= 2 * most && characters(text) <= most);
