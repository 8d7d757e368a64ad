import type { ResponseHead } from './response-head.js';

/** How long a call waits for its answer. */
export interface CallTimeouts {
  /** Until the answer begins; for a stream, until its first event with data. */
  headersTimeoutMs: number;
  /** Between two pieces of the answer, or two such events. */
  bodyTimeoutMs: number;
}

/** Receives the response of a call. Not called again after `onEnd`, `onError` or an abort. */
export interface UpstreamHandler {
  /** The call's `x-request-id`, if it sends one. */
  readonly requestId?: string;
  /** The account that makes the call. */
  readonly accountId?: string;
  readonly timeouts: CallTimeouts;
  /**
   * False while only comments, or nothing, followed a stream's head or its last event. A node may send comments although its model hangs,
   * so they don't extend timeouts.
   */
  readonly movedOn?: boolean;
  onHead(head: ResponseHead): void;
  /** Receives bytes of the body, which the handler may keep. */
  onData(chunk: Buffer): void;
  /** Called when the answer is complete. */
  onEnd(): void;
  onError(error: Error): void;
}

/** The upstream took too long to connect, to begin its answer, or to continue it. */
export class UpstreamTimeoutError extends Error {
  readonly code = 'UPSTREAM_TIMEOUT';

  /** @param connected False if nothing of the call has been sent. */
  constructor(readonly connected: boolean) {
    super('the upstream took too long');
  }
}
