/** How much of an answer is read (requirement F7). */

/** Per event of a stream. */
export const MAX_EVENT_BYTES = 1024 * 1024;

/** Per whole answer, which is buffered until it can be sent. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** Per error, of which the message is read. */
export const MAX_ERROR_BYTES = 64 * 1024;

/** The answer, or one of its events, exceeds the limit. */
export class AnswerTooLargeError extends Error {
  override name = 'AnswerTooLargeError';
}
