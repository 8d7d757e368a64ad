import { graceTimeout } from '../lib/grace-timeout.js';
import { GENERAL_MASK } from '../lib/message-mask.js';
import type { ResponseHead } from '../lib/upstream/response-head.js';
import type { CallHandle } from '../lib/upstream/upstream.js';
import type { CallTimeouts, UpstreamHandler } from '../lib/upstream/upstream-handler.js';
import { judgeStatus } from './node-errors.js';
import { MalformedResponseError, REWRITE_MODEL_NAME } from './rewrite-model-name.js';
import type { Deployment } from './routing.js';

/** More than a vector of some thousand numbers. */
const MAX_BYTES = 1024 * 1024;

/** Smallest request of each kind. */
const REQUESTS: Readonly<Record<string, object>> = {
  '/chat/completions': { messages: [{ role: 'user', content: 'ping' }], max_tokens: 1 },
  '/embeddings': { input: 'ping' },
};

type Send = (path: string, body: Buffer, handler: UpstreamHandler) => CallHandle;

/** Collects a node's answer to a probe. */
class ProbeAnswer implements UpstreamHandler {
  readonly timeouts: CallTimeouts;
  /** Rejects if the answer takes too long or is too large. */
  readonly whole: Promise<Buffer>;
  status = 0;
  retryAfter: string | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #resolve!: (body: Buffer) => void;
  #reject!: (error: Error) => void;

  constructor(timeoutMs: number) {
    this.timeouts = { headersTimeoutMs: timeoutMs, bodyTimeoutMs: timeoutMs };
    this.whole = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  onHead({ status, retryAfter }: ResponseHead): void {
    this.status = status;
    this.retryAfter = retryAfter;
  }

  onData(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_BYTES) throw new MalformedResponseError('too much for one token');
    this.#chunks.push(chunk);
  }

  onEnd(): void {
    this.#resolve(Buffer.concat(this.#chunks));
  }

  onError(error: Error): void {
    this.#reject(error);
  }
}

async function sendProbe(
  deployment: Deployment,
  path: string,
  timeoutMs: number,
  send: Send,
): Promise<'answered' | 'refused'> {
  const request = { model: deployment.node.read().upstreamModel, ...REQUESTS[path] };
  const answer = new ProbeAnswer(timeoutMs);
  const handle = send(path, Buffer.from(JSON.stringify(request)), answer);
  // The handler's timeouts limit only the time between two pieces.
  const endLimit = graceTimeout(timeoutMs, () => {
    handle.abort(answer);
    answer.onError(new Error('it took too long'));
  });
  const body = await answer.whole.finally(endLimit);
  if (answer.status > 299) {
    const verdict = judgeStatus(answer.status, body.toString(), answer.retryAfter, deployment, GENERAL_MASK);
    // A node that only asks for the other bound field understood the rest.
    if (verdict.kind === 'refused') return verdict.takes === undefined ? 'refused' : 'answered';
    // A node that names a time to wait works.
    if (verdict.waitMs !== undefined) return 'answered';
    throw new Error(`status ${answer.status}`);
  }
  const { kind } = REWRITE_MODEL_NAME.run({ body, model: deployment.group, path, answers: 1 });
  if (kind !== 'answer') throw new Error(`an answer that is ${kind}`);
  return 'answered';
}

/**
 * Whether a node works: it answers, or refuses as the caller's fault, the kind of call that it last served. Before its first call
 * it is unknown whether it serves chat or embeddings, so both are tried and one must be answered. Never rejects.
 */
export async function probe(
  deployment: Deployment,
  path: string | undefined,
  timeoutMs: number,
  send: Send,
): Promise<boolean> {
  const paths = path === undefined ? Object.keys(REQUESTS) : [path];
  const ends = await Promise.allSettled(paths.map((one) => sendProbe(deployment, one, timeoutMs, send)));
  return ends.some((end) => end.status === 'fulfilled' && (end.value === 'answered' || path !== undefined));
}
