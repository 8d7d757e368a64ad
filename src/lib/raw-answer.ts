import type { Socket } from 'node:net';
import { newId } from './ids.js';

const REASONS: Record<number, string> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

/**
 * Whether a connection must not get a refusal: it is closed, or it timed out before its client sent anything. Clients open connections
 * in advance, and a client that sends its first request at that moment would take the refusal for its answer.
 */
export function isUnanswerable({ code }: NodeJS.ErrnoException, socket: Socket): boolean {
  const isUnused = code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0;
  return code === 'ECONNRESET' || socket.destroyed || !socket.writable || isUnused;
}

/** A JSON answer to bytes that aren't an HTTP request. The connection ends after it. */
export function rawAnswer(status: number, content: object): string {
  const body = JSON.stringify(content);
  return `HTTP/1.1 ${status} ${REASONS[status] ?? 'Bad Request'}\r\ncontent-type: application/json; charset=utf-8\r\nx-request-id: ${newId()}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`;
}
