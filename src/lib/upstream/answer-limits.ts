/** How much of an answer is read (requirement F7). */

/** Of an event of a stream. */
export const MAX_EVENT_BYTES = 1024 * 1024;

/** Of a whole answer, which is held back until it can leave. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** Of an error, for the words in it. */
export const MAX_ERROR_BYTES = 64 * 1024;

/** The answer, or a piece of it, is larger than what is taken. */
export class AnswerTooLargeError extends Error {
  override name = 'AnswerTooLargeError';
}
