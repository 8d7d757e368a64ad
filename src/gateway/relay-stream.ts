import type { ServerResponse } from 'node:http';
import { memberValue, replaceValue, scanMembers } from '../lib/json-scan.js';
import { eventData, SseSplitter } from '../upstream/sse-splitter.js';
import { errorEvent } from './answer.js';
import type { Call } from './call.js';
import type { RelayAnswer, RelayContext } from './relay.js';
import { mapErrorChunk, type UpstreamFailure } from './upstream-failure.js';

const DONE = Buffer.from('[DONE]');
const ERROR_KEY = Buffer.from('"error"');
const USAGE_KEY = Buffer.from('"usage"');
/** A delta that carries something generated; the opening chunk with role and empty content does not. */
const TOKEN = /"(?:content|reasoning_content|reasoning|refusal|arguments|name|text)"\s*:\s*"[^"]/;
const USAGE_NULL = /"usage"\s*:\s*null/;

interface ChunkFields {
  error?: unknown;
  usage?: unknown;
  choices?: unknown;
}

/** A stream of server-sent events: bytes pass as they come, usage is read on the side. */
export class StreamAnswer implements RelayAnswer {
  readonly #splitter = new SseSplitter();
  /** Adjacent events that go out in one write. */
  #run: Buffer | undefined;
  #started = false;
  #over = false;
  #deltas = 0;
  #usage: unknown;
  #servedModel: string | undefined;
  #restamping = false;
  #writable = true;

  constructor(
    private readonly context: RelayContext,
    private readonly response: ServerResponse,
    private readonly call: Call,
  ) {}

  data(chunk: Buffer): boolean {
    if (this.#over) return true;
    try {
      this.#splitter.push(chunk, (event) => this.#take(event));
    } catch {
      this.context.fail({ code: 'upstream_error', options: {} });
      return true;
    }
    this.#flush();
    return this.#writable;
  }

  end(): void {
    // Without [DONE] the upstream broke off, however cleanly it closed.
    if (!this.#over) this.context.fail({ code: 'upstream_error', options: {} });
  }

  fail(failure: UpstreamFailure): boolean {
    if (!this.#started) return false;
    this.#over = true;
    this.#flush();
    this.call.fail({ code: failure.code, httpStatus: 200 }, () =>
      this.response.end(errorEvent(failure.code, failure.options)),
    );
    return true;
  }

  clientGone(): void {
    this.#over = true;
    if (this.#deltas === 0) {
      this.call.fail(
        { code: 'client_closed_request', httpStatus: 499, clientAborted: true },
        () => undefined,
      );
      return;
    }
    this.call.succeed(
      {
        usage: this.#usage,
        estimateOutput: () => this.#deltas,
        servedModel: this.#served(),
        clientAborted: true,
      },
      () => undefined,
    );
  }

  #take(event: Buffer): void {
    if (this.#over) return;
    const data = eventData(event);
    if (data?.equals(DONE)) this.#complete(event);
    else if (!data) this.#send(event);
    else this.#takeChunk(event, data);
  }

  #takeChunk(event: Buffer, data: Buffer): void {
    if (this.#servedModel === undefined) this.#readModel(data);
    const mayFail = data.includes(ERROR_KEY);
    const mayCount = data.includes(USAGE_KEY) && !USAGE_NULL.test(data.toString('latin1'));
    if (mayFail || mayCount) {
      const fields = parse(data);
      if (fields?.error) {
        this.context.fail(mapErrorChunk(data));
        return;
      }
      if (fields?.usage) {
        this.#usage = fields.usage;
        const isUsageChunk = Array.isArray(fields.choices) && fields.choices.length === 0;
        if (isUsageChunk && !this.call.input.body.usageAsked) return;
      }
    }
    if (TOKEN.test(data.toString('latin1'))) {
      this.#deltas++;
      this.call.firstToken();
    }
    this.#send(this.#restamping ? this.#restamp(data) : event);
  }

  #complete(event: Buffer): void {
    this.#over = true;
    this.#start();
    this.#flush();
    this.call.succeed(
      { usage: this.#usage, estimateOutput: () => this.#deltas, servedModel: this.#served() },
      (error) => this.response.end(error ? errorEvent('service_unavailable') : event),
    );
  }

  #readModel(data: Buffer): void {
    try {
      const member = scanMembers(data, 512).find(({ key }) => key === 'model');
      const name = member ? memberValue(data, member) : undefined;
      if (typeof name !== 'string') return;
      this.#servedModel = this.context.servedModel(name);
      this.#restamping = this.#servedModel !== name;
    } catch {
      // Not JSON: it passes as it is, and the model asked for counts as the one that served.
    }
  }

  #restamp(data: Buffer): Buffer {
    try {
      const member = scanMembers(data, 512).find(({ key }) => key === 'model');
      const stamped = member ? replaceValue(data, member, this.#served()) : data;
      return Buffer.concat([Buffer.from('data: '), stamped, Buffer.from('\n\n')]);
    } catch {
      return Buffer.concat([Buffer.from('data: '), data, Buffer.from('\n\n')]);
    }
  }

  #served(): string {
    return this.#servedModel ?? this.call.input.body.model;
  }

  #start(): void {
    if (this.#started) return;
    this.#started = true;
    const headers = this.context.headers();
    headers['content-type'] = 'text/event-stream; charset=utf-8';
    headers['x-accel-buffering'] = 'no';
    this.response.writeHead(200, headers);
  }

  #send(event: Buffer): void {
    const run = this.#run;
    if (run && run.buffer === event.buffer && run.byteOffset + run.length === event.byteOffset) {
      this.#run = Buffer.from(event.buffer, run.byteOffset, run.length + event.length);
      return;
    }
    this.#flush();
    this.#run = event;
  }

  #flush(): void {
    if (!this.#run) return;
    this.#start();
    this.#writable = this.response.write(this.#run);
    this.#run = undefined;
  }
}

function parse(data: Buffer): ChunkFields | undefined {
  try {
    return JSON.parse(data.toString()) as ChunkFields;
  } catch {
    return undefined;
  }
}
