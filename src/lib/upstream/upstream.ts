import { GENERAL_MASK, type MessageMask } from '../message-mask.js';
import type { Span } from '../tracing/tracing.js';
import type { UpstreamClient } from './client.js';
import type { UpstreamHandler } from './upstream-handler.js';

/** A call of a model without its body. */
export interface CallHead {
  endpoint: 'chat' | 'embeddings';
  /** Value of the header. Like the other texts here, latin1 without line ends. */
  authorization: string;
  /** Over HTTP only. */
  requestId: string;
  /** The call's span, if the call is traced. */
  span: Span | undefined;
  /** Over HTTP only. */
  stream: boolean;
}

/** Controls a call in progress. Only the call's own handler may use it. */
export interface CallHandle {
  /** Stops delivery of the answer, and its timeouts, until `resume`. */
  pause(handler: UpstreamHandler): void;
  resume(handler: UpstreamHandler): void;
  /** Ends the call. Its handler isn't called again. */
  abort(handler: UpstreamHandler): void;
}

/** Carries calls: over HTTP to a model proxy, or through the router in this process. */
export interface Upstream {
  /** Masks information about the operator in messages of refusals. */
  readonly mask: MessageMask;
  /** Sends a call at the end of this turn of the event loop. The handler is called later, never from here. */
  call(head: CallHead, body: Buffer, handler: UpstreamHandler): CallHandle;
}

const PATHS = { chat: '/v1/chat/completions', embeddings: '/v1/embeddings' } as const;

/** Carries each call over an HTTP connection of its own, to any model proxy. */
export class HttpUpstream implements Upstream {
  /** @param basePath Path prefix of the upstream's address, without a trailing slash. */
  constructor(
    private readonly client: UpstreamClient,
    private readonly basePath: string,
    readonly mask = GENERAL_MASK,
  ) {}

  call(head: CallHead, body: Buffer, handler: UpstreamHandler): CallHandle {
    const { endpoint, authorization, requestId, span, stream } = head;
    const headers = {
      authorization,
      'x-request-id': requestId,
      accept: stream ? 'text/event-stream' : 'application/json',
      ...(span && { traceparent: span.traceparent }),
    };
    const exchange = this.client.post(this.basePath + PATHS[endpoint], headers, body, handler);
    // By the end of this turn, the call's intent is in the spool.
    setImmediate(() => exchange.send());
    return exchange;
  }

  /** Aborts all calls. Later calls fail. */
  destroy(): void {
    this.client.destroy();
  }
}
