/** How much of a caller's own name for something is echoed. */
const MAX_NAME_BYTES = 200;

/** Longer than any of our own sentences. */
const MAX_SENTENCE_BYTES = 1_000;

const encoder = new TextEncoder();

/** The first `maxBytes` bytes of a text in UTF-8, with `…` in place of the rest. */
export function truncateUtf8(text: string, maxBytes = MAX_NAME_BYTES): string {
  // A UTF-16 unit takes at most three bytes in UTF-8, so most texts need no counting.
  if (text.length * 3 <= maxBytes) return text;
  const { read } = encoder.encodeInto(text, new Uint8Array(maxBytes));
  return read === text.length ? text : `${text.slice(0, read)}…`;
}

/** Truncates a sentence that may quote a caller: each word to 200 bytes, the sentence to 1,000. */
export const truncateMessage = (sentence: string): string =>
  truncateUtf8(
    sentence.replace(/\S{67,}/g, (word) => truncateUtf8(word)),
    MAX_SENTENCE_BYTES,
  );
