import type { ResponseHead } from '../../src/lib/upstream/response-head.js';
import type { CallHandle, CallHead } from '../../src/lib/upstream/upstream.js';
import type { CallTimeouts, UpstreamHandler } from '../../src/lib/upstream/upstream-handler.js';
import { until } from './until.js';

/** A handler of a call to an upstream that records its events. */
export class Heard implements UpstreamHandler {
  head: ResponseHead | undefined;
  carrier: CallHandle | undefined;
  ends = 0;
  readonly errors: Error[] = [];
  readonly pieces: Buffer[] = [];
  /** Pauses after the first piece. */
  pausing = false;

  constructor(readonly timeouts: CallTimeouts = { headersTimeoutMs: 20_000, bodyTimeoutMs: 20_000 }) {}

  get body(): Buffer {
    return Buffer.concat(this.pieces);
  }

  get text(): string {
    return this.body.toString('latin1');
  }

  get bytes(): number {
    return this.pieces.reduce((sum, piece) => sum + piece.length, 0);
  }

  get over(): boolean {
    return this.ends + this.errors.length > 0;
  }

  /** The parts of a response that a caller can see. */
  get visible() {
    const { status, contentType, retryAfter, servedBy } = this.head ?? {};
    const failed = this.errors.length > 0;
    return {
      status,
      contentType: contentType?.split(';')[0],
      retryAfter,
      servedBy,
      body: this.body.toString('latin1'),
      failed,
    };
  }

  onHead(head: ResponseHead): void {
    this.head = head;
  }

  onData(chunk: Buffer): void {
    this.pieces.push(chunk);
    if (this.pausing) this.carrier?.pause(this);
  }

  onEnd(): void {
    this.ends++;
  }

  onError(error: Error): void {
    this.errors.push(error);
  }

  async done(): Promise<this> {
    await until(() => this.over, { what: 'the call to end' });
    return this;
  }
}

/** The head of a chat call, with a test's changes. */
export const callHead = (changes: Partial<CallHead> = {}): CallHead => ({
  endpoint: 'chat',
  authorization: 'Bearer sk-virtual-of-the-tests',
  requestId: '0199d2f0-7a3c-7c1e-8f7e-2a6f1c9b4d10',
  span: undefined,
  stream: false,
  ...changes,
});
