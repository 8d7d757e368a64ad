import type { IncomingMessage, Server } from 'node:http';

/** What a span says. Never a prompt, an answer, a key or an address. */
export type Attributes = Record<string, string | number | boolean | null | undefined>;

/** One step of a trace. Where the trace isn't sampled, it says so to others and keeps nothing. */
export interface Span {
  /** The W3C header for requests that are made on its behalf. */
  readonly traceparent: string;
  /** Adds what is known by now; null and undefined are left out. */
  note(attributes: Attributes): void;
  /** A step within this one. */
  child(name: string, attributes?: Attributes): Span;
  /** Ends it. `failed` marks it as an error. */
  end(failed?: boolean): void;
}

/** Traces of one process. It exists only where an endpoint for them is set. */
export interface Tracing {
  /** Gives each request to a server a span, from its head to the end of its answer. */
  watch(server: Server): void;
  /** Begins the span of a request that no server was asked, by its W3C header; who answers it ends the span. */
  begin(method: string, traceparent: string | undefined): Span;
  /** The span of a request that is being answered. */
  of(request: IncomingMessage): Span | undefined;
  /** Runs what answers a request, so that `activeSpan` finds its span. */
  run(request: IncomingMessage, work: () => void): void;
  /** Sends what is left, as far as the receiver takes it in time. */
  close(): Promise<void>;
}
