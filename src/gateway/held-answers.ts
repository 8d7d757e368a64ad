import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { EdgeBounds } from './edge-bounds.js';
import type { HeldBytes } from './held-bytes.js';

type Bounds = Pick<EdgeBounds, 'heldBytesPerAnswer' | 'waitingReaders' | 'waitingReadersPerClient'>;

/**
 * Sends the platform's answers. Each is taken as fast as it comes and kept for its reader; where there is no room, the
 * platform waits for the reader, but for a few readers only: those who take the least are cut.
 */
export class HeldAnswers {
  /** Answers that the platform waits with, whose reader took something longest ago first. */
  readonly #waiting = new Set<HeldAnswer>();

  constructor(
    private readonly held: HeldBytes,
    private readonly bounds: Bounds,
  ) {}

  /** Sends the body of an answer whose head has been written, and ends it. */
  send(client: string, source: Readable, response: ServerResponse): void {
    if (response.destroyed) source.destroy();
    else new HeldAnswer(this, client, source, response);
  }

  /** Keeps bytes of an answer; whether there is room for more of it. */
  keep(answer: HeldAnswer, bytes: number): boolean {
    this.held.add(answer.client, bytes);
    answer.bytes += bytes;
    return this.#hasRoom(answer);
  }

  /** Its reader has taken bytes; whether the platform may go on. */
  taken(answer: HeldAnswer, bytes: number): boolean {
    this.held.remove(answer.client, bytes);
    answer.bytes -= bytes;
    // Last in line again.
    if (this.#waiting.delete(answer)) this.#waiting.add(answer);
    return (
      answer.bytes === 0 || (this.#hasRoom(answer) && answer.bytes * 2 <= this.bounds.heldBytesPerAnswer)
    );
  }

  /** The platform waits with an answer: that holds a connection to it. */
  pause(answer: HeldAnswer): void {
    this.#waiting.add(answer);
    const { waitingReaders, waitingReadersPerClient } = this.bounds;
    const own = [...this.#waiting].filter(({ client }) => client === answer.client);
    if (own.length > waitingReadersPerClient) own[0]!.cut();
    else if (this.#waiting.size > waitingReaders) [...this.#waiting][0]!.cut();
  }

  resume(answer: HeldAnswer): void {
    this.#waiting.delete(answer);
  }

  #hasRoom(answer: HeldAnswer): boolean {
    return answer.bytes < this.bounds.heldBytesPerAnswer && this.held.hasRoom(answer.client);
  }
}

class HeldAnswer {
  bytes = 0;
  readonly #kept: Buffer[] = [];
  /** The system takes no more for now. */
  #full = false;
  #paused = false;
  #complete = false;

  constructor(
    private readonly all: HeldAnswers,
    readonly client: string,
    private readonly source: Readable,
    private readonly response: ServerResponse,
  ) {
    response.on('drain', () => this.#drained()).once('close', () => this.#over());
    source
      .on('data', (chunk: Buffer) => this.#take(chunk))
      .on('end', () => {
        this.#complete = true;
        if (this.bytes === 0) response.end();
      })
      // Broken off: the client must see that this is not all.
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
      if (this.bytes === 0) response.end();
    } else if (this.#paused && mayGoOn) {
      this.#paused = false;
      this.all.resume(this);
      this.source.resume();
    }
  }

  /** Sent, cut or left by its client. */
  #over(): void {
    this.#kept.length = 0;
    this.all.taken(this, this.bytes);
    this.all.resume(this);
    // What is left of the platform's answer is nobody's; its connection goes with it.
    this.source.destroy();
  }
}
