import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { type Holding, MemoryPool } from '../../lib/fair/memory-pool.js';
import type { ResourceLimits } from '../resource-limits.js';

/** A client's answers may use a third of the free memory: a quarter of the buffer for a client alone. */
const CLIENT_PART = 3;

type Bounds = Pick<
  ResourceLimits,
  'responseBufferBytes' | 'responseBufferBytesPerAnswer' | 'waitingReaders' | 'waitingReadersPerClient'
>;

/**
 * Sends the platform's answers to clients. Each answer is read at the platform's speed and buffered for its reader. If the buffer is
 * full, the platform is paused, for a limited number of answers; beyond that, the reader that made progress longest ago is cut.
 */
export class ResponseBuffering {
  /** Answers whose source is paused, by the time of their last progress. */
  readonly #paused = new Set<BufferedResponse>();
  readonly #buffer: MemoryPool;

  constructor(private readonly bounds: Bounds) {
    this.#buffer = new MemoryPool(bounds.responseBufferBytes, CLIENT_PART);
  }

  /** Sends the body of an answer whose headers have been written, then ends the response. */
  send(client: string, source: Readable, response: ServerResponse): void {
    if (response.destroyed) source.destroy();
    else new BufferedResponse(this, client, this.#buffer.holding(client), source, response);
  }

  /** Counts bytes that are buffered. Returns whether there is room for more. */
  added(answer: BufferedResponse, bytes: number): boolean {
    answer.buffered.add(bytes);
    return this.#hasRoom(answer);
  }

  /** Counts bytes that the reader has taken. Returns whether a paused source may resume. */
  taken(answer: BufferedResponse, bytes: number): boolean {
    answer.buffered.give(bytes);
    // Progress moves the answer to the end.
    if (this.#paused.delete(answer)) this.#paused.add(answer);
    const left = answer.buffered.bytes;
    return left === 0 || (this.#hasRoom(answer) && left * 2 <= this.bounds.responseBufferBytesPerAnswer);
  }

  /** Registers a paused source, which occupies a connection to the platform. Cuts a reader if there are too many. */
  pause(answer: BufferedResponse): void {
    this.#paused.add(answer);
    const { waitingReaders, waitingReadersPerClient } = this.bounds;
    const own = [...this.#paused].filter(({ client }) => client === answer.client);
    if (own.length > waitingReadersPerClient) own[0]!.cut();
    else if (this.#paused.size > waitingReaders) [...this.#paused][0]!.cut();
  }

  resume(answer: BufferedResponse): void {
    this.#paused.delete(answer);
  }

  #hasRoom(answer: BufferedResponse): boolean {
    return answer.buffered.bytes < this.bounds.responseBufferBytesPerAnswer && answer.buffered.hasRoom();
  }
}

class BufferedResponse {
  readonly #chunks: Buffer[] = [];
  /** The socket's buffer is full until the next `drain`. */
  #full = false;
  #paused = false;
  #complete = false;

  constructor(
    private readonly all: ResponseBuffering,
    readonly client: string,
    readonly buffered: Holding,
    private readonly source: Readable,
    private readonly response: ServerResponse,
  ) {
    response.on('drain', () => this.#drained()).once('close', () => this.#over());
    source
      .on('data', (chunk: Buffer) => this.#take(chunk))
      .on('end', () => {
        this.#complete = true;
        if (this.buffered.bytes === 0) response.end();
      })
      // The answer broke off. A normal end would look complete to the client.
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
    this.#chunks.push(chunk);
    if (this.all.added(this, chunk.length)) return;
    this.#paused = true;
    this.source.pause();
    this.all.pause(this);
  }

  #drained(): void {
    const { response } = this;
    let taken = 0;
    this.#full = false;
    while (this.#chunks.length > 0 && !this.#full) {
      const chunk = this.#chunks.shift()!;
      taken += chunk.length;
      this.#full = !response.write(chunk);
    }
    const mayResume = this.all.taken(this, taken);
    if (this.#complete) {
      if (this.buffered.bytes === 0) response.end();
    } else if (this.#paused && mayResume) {
      this.#paused = false;
      this.all.resume(this);
      this.source.resume();
    }
  }

  /** The response is closed: sent, cut, or abandoned by the client. */
  #over(): void {
    this.#chunks.length = 0;
    this.all.taken(this, this.buffered.bytes);
    this.all.resume(this);
    // An unfinished answer is useless. Its connection to the platform closes with it.
    this.source.destroy();
  }
}
