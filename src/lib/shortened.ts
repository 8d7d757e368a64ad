/** How much of a caller's own name for something is echoed. */
const MAX_NAME_BYTES = 200;

/** Longer than any of our own sentences. */
const MAX_SENTENCE_BYTES = 1_000;

const encoder = new TextEncoder();

/** The first `maxBytes` bytes of a text in UTF-8, with `…` in place of the rest. */
export function shortened(text: string, maxBytes = MAX_NAME_BYTES): string {
  // A UTF-16 unit takes at most three bytes in UTF-8, so most texts need no counting.
  if (text.length * 3 <= maxBytes) return text;
  const { read } = encoder.encodeInto(text, new Uint8Array(maxBytes));
  return read === text.length ? text : `${text.slice(0, read)}…`;
}

/** Shortens a sentence that may quote a caller: each long word like a name, and the whole to 1,000 bytes. */
export const withShortNames = (sentence: string): string =>
  shortened(
    sentence.replace(/\S{67,}/g, (word) => shortened(word)),
    MAX_SENTENCE_BYTES,
  );
