import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { provideActiveSpan } from './active-span.js';
import { type EndedSpan, type ExporterOptions, OtlpExporter } from './otlp-exporter.js';
import type { Attributes, Span, Tracing } from './tracing.js';

export interface TracingOptions extends ExporterOptions {
  /** Share of traces to keep, 0 to 1. */
  ratio: number;
  /** Whether requests come from outside. Their `traceparent` may lower the share of kept traces, never raise it. */
  isEntry: boolean;
}

/** A position in a trace, as in the W3C header `traceparent`. */
interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits. */
  spanId: string;
  sampled: boolean;
}

/** Later versions may add more after a further dash. */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[\w-]{0,100})?$/;
const ZEROS = /^0+$/;
const SAMPLED = 1;

/** Reads the header; undefined if it is missing, invalid or repeated. */
export function readTraceparent(header: string | string[] | undefined): TraceContext | undefined {
  if (typeof header !== 'string') return undefined;
  const [, version, traceId, spanId, flags, rest] = TRACEPARENT.exec(header) ?? [];
  if (!traceId || !spanId || version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags!, 16) & SAMPLED) === SAMPLED };
}

export const formatTraceparent = ({ traceId, spanId, sampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-0${sampled ? SAMPLED : 0}`;

const TRACE_BYTES = 16;
const SPAN_BYTES = 8;
const LEAST_FAILURE = 500;

const hex = (bytes: number): string => randomBytes(bytes).toString('hex');
const now = (): number => performance.timeOrigin + performance.now();

type Add = (span: EndedSpan) => void;

/** A sampled span. */
class KeptSpan implements Span {
  readonly #startMs = now();
  readonly #attributes: Attributes = {};
  #ended = false;

  constructor(
    private readonly add: Add,
    readonly context: TraceContext,
    private readonly parentSpanId: string | undefined,
    private readonly kind: EndedSpan['kind'],
    private name: string,
  ) {}

  get traceparent(): string {
    return formatTraceparent(this.context);
  }

  note(attributes: Attributes): void {
    Object.assign(this.#attributes, attributes);
  }

  child(name: string, attributes: Attributes = {}): Span {
    const context = { ...this.context, spanId: hex(SPAN_BYTES) };
    const span = new KeptSpan(this.add, context, this.context.spanId, 'client', name);
    span.note(attributes);
    return span;
  }

  end(failed = false): void {
    if (this.#ended) return;
    this.#ended = true;
    const route = this.#attributes['http.route'];
    if (route) this.name += ` ${route}`;
    const { traceId, spanId } = this.context;
    const { parentSpanId, kind, name } = this;
    const ids = { traceId, spanId, parentSpanId };
    const times = { startMs: this.#startMs, endMs: now() };
    this.add({ ...ids, kind, name, ...times, attributes: this.#attributes, failed });
  }
}

/** An unsampled span, which passes the decision not to sample on to other processes. */
const droppedSpan = (context: TraceContext): Span => {
  const span: Span = {
    traceparent: formatTraceparent(context),
    note: () => undefined,
    child: () => span,
    end: () => undefined,
  };
  return span;
};

/** Continues traces from the W3C headers of requests, and sends spans to an OTLP receiver. Loaded only if tracing is configured. */
export function createTracing(options: TracingOptions): Tracing {
  const exporter = new OtlpExporter(options);
  const add: Add = (span) => exporter.add(span);
  const spans = new WeakMap<IncomingMessage, Span>();
  const active = new AsyncLocalStorage<Span | undefined>();
  provideActiveSpan(() => active.getStore());

  const isSampled = (parent: TraceContext | undefined): boolean => {
    if (parent && (!options.isEntry || !parent.sampled)) return parent.sampled;
    return Math.random() < options.ratio;
  };
  const begin = (method: string, traceparent: string | string[] | undefined): Span => {
    const parent = readTraceparent(traceparent);
    const sampled = isSampled(parent);
    const context = { traceId: parent?.traceId ?? hex(TRACE_BYTES), spanId: hex(SPAN_BYTES), sampled };
    return sampled ? new KeptSpan(add, context, parent?.spanId, 'server', method) : droppedSpan(context);
  };
  const watched = (request: IncomingMessage, response: ServerResponse): void => {
    // Machines request it every few seconds.
    if (request.url?.startsWith('/health')) return;
    const method = request.method ?? '';
    const span = begin(method, request.headers.traceparent);
    spans.set(request, span);
    if (!(span instanceof KeptSpan)) return;
    response.once('close', () => {
      const { statusCode, writableFinished } = response;
      span.note({ 'http.request.method': method, 'http.response.status_code': statusCode });
      if (!writableFinished) span.note({ 'gateway.cut': true });
      span.end(statusCode >= LEAST_FAILURE);
    });
  };
  return {
    watch(server: Server) {
      server.prependListener('request', watched);
    },
    begin,
    of: (request) => spans.get(request),
    run: (request, work) => active.run(spans.get(request), work),
    async close() {
      provideActiveSpan(undefined);
      await exporter.close();
    },
  };
}
