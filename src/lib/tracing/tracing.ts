import type { IncomingMessage, Server } from 'node:http';

/** Attributes of a span. Never a prompt, an answer, a key or an address. */
export type Attributes = Record<string, string | number | boolean | null | undefined>;

/** One step of a trace. In an unsampled trace it keeps nothing, and its `traceparent` passes that on. */
export interface Span {
  /** The W3C header for requests made within this span. */
  readonly traceparent: string;
  /** Adds attributes; null and undefined are left out. */
  note(attributes: Attributes): void;
  /** A step within this one. */
  child(name: string, attributes?: Attributes): Span;
  /** Ends the span. `failed` marks it as an error. */
  end(failed?: boolean): void;
}

/** Tracing of one process. Exists only if an endpoint is configured. */
export interface Tracing {
  /** Creates a span for each request to a server, from its headers to the end of its answer. */
  watch(server: Server): void;
  /** Begins a span from the W3C header of a request that bypasses watched servers. The code that answers the request ends it. */
  begin(method: string, traceparent: string | undefined): Span;
  /** The span of a request in progress. */
  of(request: IncomingMessage): Span | undefined;
  /** Runs the handler of a request so that `activeSpan` finds its span. */
  run(request: IncomingMessage, work: () => void): void;
  /** Sends the remaining spans, as far as the receiver accepts them in time. */
  close(): Promise<void>;
}
