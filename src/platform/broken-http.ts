import type { Socket } from 'node:net';
import { type ErrorCode, errorBody, errorEntry } from '../errors.js';
import { newId } from '../lib/ids.js';
import { isUnused } from '../lib/unused-connection.js';

const REASONS: Record<number, string> = { 400: 'Bad Request', 431: 'Request Header Fields Too Large' };

/** Answers what isn't HTTP, or has headers beyond every bound, before Fastify has seen a request. */
export function answerBrokenHttp(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable || isUnused(error, socket)) {
    socket.destroy();
    return;
  }
  const code: ErrorCode = error.code === 'HPE_HEADER_OVERFLOW' ? 'headers_too_large' : 'invalid_body';
  const options = code === 'invalid_body' ? { message: 'This is not a valid HTTP request.' } : {};
  const body = JSON.stringify(errorBody(code, options));
  const { status } = errorEntry(code);
  socket.end(
    `HTTP/1.1 ${status} ${REASONS[status]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `X-Request-Id: ${newId()}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
