import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type ErrorCode, errorBody, errorEntry } from '../errors.js';
import { isUnanswerable, rawAnswer } from '../lib/raw-answer.js';
import { RESOURCE_LIMITS } from './resource-limits.js';

const seconds = (ms: number): string => `${ms / 1000} s`;
const TOO_SLOW = `The request arrived too slowly: its headers may take ${seconds(RESOURCE_LIMITS.headersTimeoutMs)}, and all of it ${seconds(RESOURCE_LIMITS.requestTimeoutMs)}.`;

/** Connections whose refusal waits for the answers before it. */
const waiting = new WeakSet<Socket>();

/**
 * Answers what is not HTTP in the contract's shape and closes. Whole requests before it are answered first: they may have
 * been charged.
 */
export function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (waiting.has(socket)) return;
  const front = (socket as { _httpMessage?: ServerResponse })._httpMessage;
  if (isUnanswerable(error, socket)) {
    socket.destroy();
    return;
  }
  if (front?.req.complete) {
    waiting.add(socket);
    front.once('close', () => {
      waiting.delete(socket);
      refuseMalformed(error, socket);
    });
    return;
  }
  // Our answer must not be written into the middle of another one.
  if (front?.headersSent) socket.destroy();
  else socket.end(refusal(error));
}

function refusal(error: NodeJS.ErrnoException): string {
  const code: ErrorCode = error.code === 'HPE_HEADER_OVERFLOW' ? 'headers_too_large' : 'invalid_request';
  const status = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : errorEntry(code).status;
  const invalid = { message: status === 408 ? TOO_SLOW : 'The request is not valid HTTP.' };
  return rawAnswer(status, errorBody(code, code === 'invalid_request' ? invalid : {}));
}
