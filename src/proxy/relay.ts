import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Agent, type Dispatcher, request } from 'undici';
import { bodyOf, type ProxyError } from './answers.js';
import { answerOfStatus, errorOfFailure, UpstreamSilent } from './node-errors.js';
import { modelValue, restampJson, SseRestamper, UpstreamGarbage } from './restamp.js';
import type { Deployment } from './routing.js';

const CONNECT_TIMEOUT_MS = 5_000;
const MAX_ERROR_BYTES = 64 * 1024;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

export interface RelayOptions {
  /** Milliseconds to the first byte where the deployment doesn't say. */
  timeoutMs: number;
  /** Milliseconds without a byte moving where the deployment doesn't say. */
  idleMs: number;
}

export interface RelayCall {
  deployment: Deployment;
  /** `/chat/completions` or `/embeddings`. */
  path: string;
  /** The request, `model` already the node's. */
  body: Buffer;
  /** Whether the caller asked for a stream. */
  stream: boolean;
}

/** How a call ended, for metrics: `ok`, `client_gone`, `stream_broken` or an error code. */
export type Outcome = string;

/** Calls nodes and writes their answers. */
export interface Relay {
  /** Answers `response` in full, or destroys its socket when a stream that has begun can't end well. Never throws. */
  run(call: RelayCall, response: ServerResponse): Promise<Outcome>;
  close(): Promise<void>;
}

/** Aborts the call when no byte moved for as long as is allowed, or when the client left. */
class Watch {
  readonly controller = new AbortController();
  private timer: NodeJS.Timeout;
  private begun = false;

  constructor(
    firstByteMs: number,
    private readonly idleMs: number,
  ) {
    this.timer = setTimeout(this.fire, firstByteMs);
  }

  private readonly fire = (): void => this.controller.abort(new UpstreamSilent('no byte in time'));

  /** A byte moved. From the first one on the idle time counts. */
  moved(): void {
    if (this.begun) {
      this.timer.refresh();
      return;
    }
    this.begun = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(this.fire, this.idleMs);
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}

const contentType = (headers: IncomingHttpHeaders): string =>
  (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();

const isJson = (type: string): boolean =>
  type === 'application/json' || /^application\/[\w.-]+\+json$/.test(type);

function answerJson(
  response: ServerResponse,
  status: number,
  body: Buffer,
  retryAfterSeconds?: number,
): void {
  if (response.destroyed) return;
  const headers: OutgoingHttpHeaders = { 'content-type': 'application/json', 'content-length': body.length };
  if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds);
  response.writeHead(status, headers).end(body);
}

function answerError(response: ServerResponse, error: ProxyError): Outcome {
  answerJson(response, error.status, Buffer.from(JSON.stringify(bodyOf(error))), error.retryAfterSeconds);
  return error.code;
}

type NodeBody = Dispatcher.ResponseData['body'];

/** The whole body, at most `limit` bytes. @throws UpstreamGarbage beyond that */
async function readAll(body: NodeBody, limit: number, watch: Watch): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    watch.moved();
    bytes += (chunk as Buffer).length;
    if (bytes > limit) throw new UpstreamGarbage('the answer is too large');
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

async function relayJson(
  call: RelayCall,
  body: NodeBody,
  watch: Watch,
  response: ServerResponse,
): Promise<Outcome> {
  const answer = restampJson(await readAll(body, MAX_ANSWER_BYTES, watch), modelValue(call.deployment.group));
  answerJson(response, 200, answer);
  return 'ok';
}

/**
 * Passes events on as they come; the node is paused while the client doesn't take them. The head leaves with the
 * first byte, so that a node which fails before it gets a status of its own.
 */
function relayStream(
  call: RelayCall,
  body: NodeBody,
  watch: Watch,
  response: ServerResponse,
): Promise<Outcome> {
  const restamper = new SseRestamper(call.deployment.group);
  return new Promise((resolve, reject) => {
    const send = (bytes: Buffer): void => {
      if (bytes.length === 0) return;
      if (!response.headersSent) {
        response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
      }
      if (!response.write(bytes)) body.pause();
    };
    const guarded = (step: () => void): void => {
      try {
        step();
      } catch (error) {
        reject(error);
        body.destroy();
      }
    };
    response.on('drain', () => {
      watch.moved();
      body.resume();
    });
    body.on('error', reject);
    body.on('close', () => reject(new UpstreamGarbage('the stream broke')));
    body.on('data', (chunk: Buffer) => {
      watch.moved();
      guarded(() => send(restamper.push(chunk)));
    });
    body.on('end', () =>
      guarded(() => {
        send(restamper.end());
        if (!response.headersSent) throw new UpstreamGarbage('an empty stream');
        response.end();
        resolve('ok');
      }),
    );
  });
}

async function relayRefusal(
  call: RelayCall,
  answer: Dispatcher.ResponseData,
  watch: Watch,
  response: ServerResponse,
): Promise<Outcome> {
  const text = (await readAll(answer.body, MAX_ERROR_BYTES, watch)).toString('utf8');
  const retryAfter = answer.headers['retry-after'];
  const result = answerOfStatus(
    answer.statusCode,
    text,
    Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
    call.deployment,
  );
  if ('error' in result) return answerError(response, result.error);
  answerJson(response, result.status, Buffer.from(JSON.stringify(result.body)));
  return `upstream_${result.status}`;
}

async function relayAnswer(
  call: RelayCall,
  answer: Dispatcher.ResponseData,
  watch: Watch,
  response: ServerResponse,
): Promise<Outcome> {
  // Without a listener the error of an aborted body would end the process.
  answer.body.on('error', () => undefined);
  if (answer.statusCode < 200 || answer.statusCode > 299) return relayRefusal(call, answer, watch, response);
  const type = contentType(answer.headers);
  if (isJson(type)) return relayJson(call, answer.body, watch, response);
  if (call.stream && type === 'text/event-stream') return relayStream(call, answer.body, watch, response);
  throw new UpstreamGarbage('an answer of another content type');
}

export function createRelay(options: RelayOptions): Relay {
  // Our own watch counts the time, since the first byte and the ones after it have different limits.
  const agent = new Agent({ connect: { timeout: CONNECT_TIMEOUT_MS }, headersTimeout: 0, bodyTimeout: 0 });

  const callNode = ({ deployment, path, body, stream }: RelayCall, signal: AbortSignal) =>
    request(deployment.apiBase + path, {
      dispatcher: agent,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: stream ? 'text/event-stream, application/json' : 'application/json',
        'accept-encoding': 'identity',
        ...(deployment.apiKey === undefined ? {} : { authorization: `Bearer ${deployment.apiKey}` }),
      },
      body,
      signal,
    });

  return {
    async run(call, response) {
      if (response.closed) return 'client_gone';
      const { deployment } = call;
      const watch = new Watch(deployment.timeoutMs ?? options.timeoutMs, deployment.idleMs ?? options.idleMs);
      let clientGone = false;
      const onClose = (): void => {
        if (response.writableFinished) return;
        clientGone = true;
        watch.controller.abort();
      };
      response.on('close', onClose);
      let body: NodeBody | undefined;
      try {
        const answer = await callNode(call, watch.controller.signal);
        body = answer.body;
        return await relayAnswer(call, answer, watch, response);
      } catch (failure) {
        body?.destroy();
        if (clientGone) return 'client_gone';
        if (response.headersSent) {
          // A clean end would say that the answer is whole.
          response.destroy();
          return 'stream_broken';
        }
        return answerError(response, errorOfFailure(watch.controller.signal.reason ?? failure));
      } finally {
        watch.stop();
        response.off('close', onClose);
      }
    },
    close: () => agent.destroy(),
  };
}
