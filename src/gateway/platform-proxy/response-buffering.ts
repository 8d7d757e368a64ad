import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { type Holding, MemoryPool } from '../../lib/fair/memory-pool.js';
import type { ResourceLimits } from '../resource-limits.js';

/** A client's answers may hold a third of what is left for all others, which is a quarter of the buffer for one alone. */
const CLIENT_PART = 3;

type Bounds = Pick<
  ResourceLimits,
  'responseBufferBytes' | 'responseBufferBytesPerAnswer' | 'waitingReaders' | 'waitingReadersPerClient'
>;

/**
 * Sends the platform's answers to clients. Each answer is read at the platform's speed and buffered for its reader.
 * Without room in the buffer the platform is paused, for a limited number of answers; beyond that, the reader that made
 * progress longest ago is cut.
 */
export class ResponseBuffering {
  /** Answers whose source is paused. The one that made progress longest ago comes first. */
  readonly #waiting = new Set<BufferedResponse>();
  readonly #buffer: MemoryPool;

  constructor(private readonly bounds: Bounds) {
    this.#buffer = new MemoryPool(bounds.responseBufferBytes, CLIENT_PART);
  }

  /** Sends the body of an answer whose head has been written, then ends the response. */
  send(client: string, source: Readable, response: ServerResponse): void {
    if (response.destroyed) source.destroy();
    else new BufferedResponse(this, client, this.#buffer.holding(client), source, response);
  }

  /** Counts buffered bytes of an answer. Returns whether there is room for more. */
  keep(answer: BufferedResponse, bytes: number): boolean {
    answer.held.add(bytes);
    return this.#hasRoom(answer);
  }

  /** Counts bytes that the reader has taken. Returns whether a paused source may resume. */
  taken(answer: BufferedResponse, bytes: number): boolean {
    answer.held.give(bytes);
    // Progress moves it to the end.
    if (this.#waiting.delete(answer)) this.#waiting.add(answer);
    const left = answer.held.bytes;
    return left === 0 || (this.#hasRoom(answer) && left * 2 <= this.bounds.responseBufferBytesPerAnswer);
  }

  /** Notes a paused source, which holds a connection to the platform, and cuts a reader if there are too many. */
  pause(answer: BufferedResponse): void {
    this.#waiting.add(answer);
    const { waitingReaders, waitingReadersPerClient } = this.bounds;
    const own = [...this.#waiting].filter(({ client }) => client === answer.client);
    if (own.length > waitingReadersPerClient) own[0]!.cut();
    else if (this.#waiting.size > waitingReaders) [...this.#waiting][0]!.cut();
  }

  resume(answer: BufferedResponse): void {
    this.#waiting.delete(answer);
  }

  #hasRoom(answer: BufferedResponse): boolean {
    return answer.held.bytes < this.bounds.responseBufferBytesPerAnswer && answer.held.hasRoom();
  }
}

class BufferedResponse {
  readonly #kept: Buffer[] = [];
  /** The socket's buffer is full until the next `drain`. */
  #full = false;
  #paused = false;
  #complete = false;

  constructor(
    private readonly all: ResponseBuffering,
    readonly client: string,
    readonly held: Holding,
    private readonly source: Readable,
    private readonly response: ServerResponse,
  ) {
    response.on('drain', () => this.#drained()).once('close', () => this.#over());
    source
      .on('data', (chunk: Buffer) => this.#take(chunk))
      .on('end', () => {
        this.#complete = true;
        if (this.held.bytes === 0) response.end();
      })
      // The answer broke off. A clean end would look complete to the client.
      .on('error', () => response.destroy());
  }

  cut(): void {
    this.#over();
    this.response.destroy();
  }

  #take(chunk: Buffer): void {
    const { response } = this;
    if (response.destroyed) return;
    if (!this.#full) {
      this.#full = !response.write(chunk);
      return;
    }
    this.#kept.push(chunk);
    if (this.all.keep(this, chunk.length)) return;
    this.#paused = true;
    this.source.pause();
    this.all.pause(this);
  }

  #drained(): void {
    const { response } = this;
    let taken = 0;
    this.#full = false;
    while (this.#kept.length > 0 && !this.#full) {
      const chunk = this.#kept.shift()!;
      taken += chunk.length;
      this.#full = !response.write(chunk);
    }
    const mayGoOn = this.all.taken(this, taken);
    if (this.#complete) {
      if (this.held.bytes === 0) response.end();
    } else if (this.#paused && mayGoOn) {
      this.#paused = false;
      this.all.resume(this);
      this.source.resume();
    }
  }

  /** The response is closed: sent, cut, or abandoned by the client. */
  #over(): void {
    this.#kept.length = 0;
    this.all.taken(this, this.held.bytes);
    this.all.resume(this);
    // An unfinished answer is of no use to anyone. Its connection closes with it.
    this.source.destroy();
  }
}
