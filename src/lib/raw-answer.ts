import type { Socket } from 'node:net';
import { newId } from './ids.js';

const REASONS: Record<number, string> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

/**
 * Whether a connection needs no refusal: it is closed, or it ran into a time limit before its client had sent
 * anything. Clients open connections in advance, and one that sends its first request just then would take the refusal for
 * the answer.
 */
export function isUnanswerable({ code }: NodeJS.ErrnoException, socket: Socket): boolean {
  const isUnused = code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0;
  return code === 'ECONNRESET' || socket.destroyed || !socket.writable || isUnused;
}

/** A JSON answer to something that isn't an HTTP request; the connection ends with it. */
export function rawAnswer(status: number, content: object): string {
  const body = JSON.stringify(content);
  return `HTTP/1.1 ${status} ${REASONS[status] ?? 'Bad Request'}\r\ncontent-type: application/json; charset=utf-8\r\nx-request-id: ${newId()}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`;
}
