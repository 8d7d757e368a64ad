import type { Socket } from 'node:net';
import { type ErrorCode, errorBody, errorEntry } from '../errors.js';
import { isUnanswerable, rawAnswer } from '../lib/raw-answer.js';

/** Answers what isn't HTTP, or has headers beyond every bound, before Fastify has seen a request. */
export function answerBrokenHttp(error: Error & { code?: string }, socket: Socket): void {
  if (isUnanswerable(error, socket)) {
    socket.destroy();
    return;
  }
  const code: ErrorCode = error.code === 'HPE_HEADER_OVERFLOW' ? 'headers_too_large' : 'invalid_request';
  const options = code === 'invalid_request' ? { message: 'This is not a valid HTTP request.' } : {};
  socket.end(rawAnswer(errorEntry(code).status, errorBody(code, options)));
}
