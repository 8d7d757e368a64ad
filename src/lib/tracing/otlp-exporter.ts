import { request } from 'undici';
import type { Logger } from '../logger.js';
import type { Attributes } from './tracing.js';

/** A span that has ended. Times are milliseconds since the epoch. */
export interface EndedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  name: string;
  kind: 'server' | 'client' | 'internal';
  startMs: number;
  endMs: number;
  attributes: Attributes;
  failed: boolean;
}

export interface ExporterOptions {
  /** Base URL of `/v1/traces`. */
  endpoint: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  log: Logger;
}

const EVERY_MS = 1_000;
const BATCH = 512;
/** Most spans kept in memory while the receiver is unavailable. */
const MAX_WAITING = 4_096;
const TIMEOUT_MS = 5_000;
const NANOS_PER_MS = 1_000_000;
const KINDS = { internal: 1, server: 2, client: 3 };
const ERROR = { code: 2 };

/** Sends batches of spans as OTLP over HTTP, in JSON. Nothing waits for it; surplus spans are dropped. */
export class OtlpExporter {
  #waiting: EndedSpan[] = [];
  #sending: Promise<void> | undefined;
  #failing = false;
  readonly #url: string;
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly options: ExporterOptions) {
    this.#url = `${options.endpoint.replace(/\/$/, '')}/v1/traces`;
    this.#timer = setInterval(() => this.#next(), EVERY_MS).unref();
  }

  add(span: EndedSpan): void {
    if (this.#waiting.length >= MAX_WAITING) return;
    this.#waiting.push(span);
    if (this.#waiting.length % BATCH === 0) this.#next();
  }

  /** Sends the remaining batches, each once. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sending;
    while (this.#waiting.length > 0 && !this.#failing) {
      this.#next();
      await this.#sending;
    }
  }

  #next(): void {
    if (this.#sending || this.#waiting.length === 0) return;
    const batch = this.#waiting.splice(0, BATCH);
    this.#sending = this.#send(batch).finally(() => {
      this.#sending = undefined;
    });
  }

  async #send(batch: readonly EndedSpan[]): Promise<void> {
    const { headers, log } = this.options;
    try {
      const answer = await request(this.#url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(this.#message(batch)),
        headersTimeout: TIMEOUT_MS,
        bodyTimeout: TIMEOUT_MS,
      });
      await answer.body.dump();
      if (answer.statusCode >= 300) throw new Error(`status ${answer.statusCode}`);
      if (this.#failing) log.info('traces are received again');
      this.#failing = false;
    } catch (error) {
      // The message may contain the address.
      const { code } = error as { code?: string };
      if (!this.#failing) log.warn({ code }, 'traces are not received and are dropped');
      this.#failing = true;
    }
  }

  #message(batch: readonly EndedSpan[]): object {
    const resource = { attributes: attributesOf({ 'service.name': this.options.serviceName }) };
    const scopeSpans = [{ scope: { name: 'inference-gateway' }, spans: batch.map(toOtlp) }];
    return { resourceSpans: [{ resource, scopeSpans }] };
  }
}

const nanos = (ms: number): string => String(BigInt(Math.round(ms * NANOS_PER_MS)));

const toOtlp = (span: EndedSpan): object => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentSpanId !== undefined && { parentSpanId: span.parentSpanId }),
  name: span.name,
  kind: KINDS[span.kind],
  startTimeUnixNano: nanos(span.startMs),
  endTimeUnixNano: nanos(span.endMs),
  attributes: attributesOf(span.attributes),
  ...(span.failed && { status: ERROR }),
});

function attributesOf(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]): object[] => {
    if (value === null || value === undefined) return [];
    if (typeof value === 'string') return [{ key, value: { stringValue: value } }];
    if (typeof value === 'boolean') return [{ key, value: { boolValue: value } }];
    const isWhole = Number.isSafeInteger(value);
    return [{ key, value: isWhole ? { intValue: String(value) } : { doubleValue: value } }];
  });
}
