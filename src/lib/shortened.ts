/** How much of a name that a caller made up is said back to them. */
const MAX_NAME_BYTES = 200;

/** None of our own sentences is that long. */
const MAX_SENTENCE_BYTES = 1_000;

const encoder = new TextEncoder();

/** The first bytes of a text in UTF-8, 200 unless told, with `…` in place of the rest. */
export function shortened(text: string, maxBytes = MAX_NAME_BYTES): string {
  // UTF-8 takes at most three bytes for a unit of UTF-16: most texts need no count.
  if (text.length * 3 <= maxBytes) return text;
  const { read } = encoder.encodeInto(text, new Uint8Array(maxBytes));
  return read === text.length ? text : `${text.slice(0, read)}…`;
}

/** A sentence that may quote a caller: each word in it as a name, and all of it as far as 1,000 bytes. */
export const withShortNames = (sentence: string): string =>
  shortened(
    sentence.replace(/\S{67,}/g, (word) => shortened(word)),
    MAX_SENTENCE_BYTES,
  );
