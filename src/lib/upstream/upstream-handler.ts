import type { ResponseHead } from './response-head.js';

/** How long a call waits for its answer. */
export interface CallTimeouts {
  /** Until the answer begins: a stream with its first event that has data. */
  headersTimeoutMs: number;
  /** Between two pieces of it, or two such events. */
  bodyTimeoutMs: number;
}

/** Who made a call. After its end, an error or an abort nothing more is called. */
export interface UpstreamHandler {
  /** The call's `x-request-id`, where it sends one. */
  readonly requestId?: string;
  /** Whose call it is. */
  readonly accountId?: string;
  readonly timeouts: CallTimeouts;
  /**
   * False while only comments, or nothing, followed a stream's head or its last event. A node may send comments although
   * its model hangs, so they prolong no wait.
   */
  readonly movedOn?: boolean;
  onHead(head: ResponseHead): void;
  /** Bytes of the body, which are the handler's to keep. */
  onData(chunk: Buffer): void;
  /** The answer came whole. */
  onEnd(): void;
  onError(error: Error): void;
}

/** The upstream took too long to connect, to begin its answer, or to go on with it. */
export class UpstreamTimeoutError extends Error {
  readonly code = 'UPSTREAM_TIMEOUT';

  /** @param connected False: nothing of the call has been sent. */
  constructor(readonly connected: boolean) {
    super('the upstream took too long');
  }
}
