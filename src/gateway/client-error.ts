import type { Socket } from 'node:net';
import { type ErrorCode, errorBody, errorEntry } from '../errors.js';

const REASONS: Record<string, string> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

/** Answers what is not HTTP in the contract's shape and closes. */
export function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  // An answer that is under way on this connection must not get ours in its middle.
  const answering = (socket as { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent;
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable || answering) {
    socket.destroy();
    return;
  }
  const code: ErrorCode = error.code === 'HPE_HEADER_OVERFLOW' ? 'headers_too_large' : 'invalid_request';
  const status = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : errorEntry(code).status;
  const message =
    code === 'invalid_request' ? 'The request is not valid HTTP or came too slowly.' : undefined;
  const body = JSON.stringify(errorBody(code, message ? { message } : {}));
  socket.end(
    `HTTP/1.1 ${status} ${REASONS[status] ?? 'Bad Request'}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
