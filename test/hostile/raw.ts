import { connect, type Socket } from 'node:net';
import { FACTOR } from '../support/jest/patience.js';

/** What a server wrote on one connection. */
export interface Exchange {
  text: string;
  /** Statuses of all answers on the connection, interim ones included. */
  statuses: number[];
  /** Whether the server closed by itself within the time. */
  closed: boolean;
  ms: number;
}

export interface ExchangeOptions {
  /** Longest wait for the server to close. Where it is to close, a busy machine has more time. */
  timeoutMs?: number;
  /** Ends our side after the last byte; a request that is cut is noticed at once. */
  halfClose?: boolean;
  /** Resolves as soon as so many answers were complete, on a connection that stays. */
  until?: (text: string) => boolean;
}

export const open = (url: string): Socket => {
  const { port, hostname } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, noDelay: true });
  socket.on('error', () => undefined);
  return socket;
};

/** Whoever waits for less waits to the end. */
const SHORTEST_STRETCHED_MS = 1_000;

/** Sends bytes as they are, which no HTTP client would, and gives what came back. */
export function exchange(
  url: string,
  bytes: string | Buffer,
  { timeoutMs = 5_000, halfClose = true, until }: ExchangeOptions = {},
): Promise<Exchange> {
  return new Promise((resolve) => {
    const started = performance.now();
    const chunks: Buffer[] = [];
    const socket = open(url);
    const finish = (closed: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      const text = Buffer.concat(chunks).toString('latin1');
      resolve({ text, statuses: statusesOf(text), closed, ms: performance.now() - started });
    };
    const limitMs = timeoutMs < SHORTEST_STRETCHED_MS ? timeoutMs : timeoutMs * FACTOR;
    const timer = setTimeout(() => finish(false), limitMs);
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (until?.(Buffer.concat(chunks).toString('latin1'))) finish(false);
    });
    socket.on('close', () => finish(true));
    if (halfClose) socket.end(bytes, 'latin1');
    else socket.write(bytes, 'latin1');
  });
}

export const statusesOf = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));

/** The code of the last answer's error; undefined without an error in our format. */
export const codeOf = (text: string): string | undefined =>
  /"error":\{"message":"[\s\S]*?"code":"(\w+)"/.exec(text)?.[1];

/** A request as text: headers line by line, then the body. */
export function requestText(
  line: string,
  headers: readonly string[] = [],
  body = '',
  host = 'gateway.test',
): string {
  return [`${line} HTTP/1.1`, `Host: ${host}`, ...headers, '', body].join('\r\n');
}

/** Headers of a request to become a WebSocket. */
export const HANDSHAKE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];
