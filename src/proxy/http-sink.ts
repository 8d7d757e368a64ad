import type { ServerResponse } from 'node:http';
import { SERVED_BY_HEADER, type ServedBy, servedByValue } from '../lib/upstream/served-by.js';
import type { RouterSink } from '../router/router-sink.js';

const STREAM_HEADERS = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };
const LINE_END = Buffer.from('\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** Sends a call's answer over HTTP. Writes to Node's response directly, not through Fastify. */
export class HttpSink implements RouterSink {
  /** Whether this class writes the chunked framing, in place of Node. */
  #framing = false;

  constructor(private readonly response: ServerResponse) {}

  get gone(): boolean {
    return this.response.closed && !this.response.writableFinished;
  }

  get begun(): boolean {
    return this.response.headersSent;
  }

  onLeft(listener: () => void): void {
    this.response.on('close', () => {
      if (!this.response.writableFinished) listener();
    });
  }

  onOver(listener: () => void): void {
    if (this.response.closed) listener();
    else this.response.on('close', listener);
  }

  onDrain(listener: () => void): void {
    this.response.on('drain', listener);
  }

  servedBy(deployment: ServedBy | undefined): void {
    if (deployment) this.response.setHeader(SERVED_BY_HEADER, servedByValue(deployment));
    else this.response.removeHeader(SERVED_BY_HEADER);
  }

  answer(status: number, body: Buffer, retryAfterSeconds?: number): void {
    if (this.response.destroyed) return;
    const headers: Record<string, string | number> = {
      'content-type': 'application/json',
      'content-length': body.length,
    };
    if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds);
    this.response.writeHead(status, headers).end(body);
  }

  send(pieces: Buffer[]): boolean {
    const { response } = this;
    if (!response.headersSent) {
      response.writeHead(200, STREAM_HEADERS);
      // Node writes a chunk in four parts; framed here it leaves in one. HTTP/1.0 has no chunks.
      this.#framing = response.chunkedEncoding;
      response.chunkedEncoding = false;
    }
    if (this.#framing) {
      const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
      pieces.unshift(Buffer.from(`${bytes.toString(16)}\r\n`, 'latin1'));
      pieces.push(LINE_END);
    }
    return response.write(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces));
  }

  endStream(): void {
    this.response.end(this.#framing ? LAST_CHUNK : undefined);
  }

  cut(): void {
    this.response.destroy();
  }
}
