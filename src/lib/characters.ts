/** Number of characters of a text. An emoji counts as one, although it has two code units. */
export function characters(text: string): number {
  let count = 0;
  for (const _character of text) count++;
  return count;
}

/** Whether `text` has at most `most` characters. Stops early. */
export const fitsCharacters = (text: string, most: number): boolean =>
  // More than 2 × `most` code units are always more than `most` characters.
  text.length <= most || (text.length <= 2 * most && characters(text) <= most);
