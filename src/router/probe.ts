import { graceTimeout } from '../lib/grace-timeout.js';
import { GENERAL_MASK } from '../lib/message-mask.js';
import type { ResponseHead } from '../lib/upstream/response-head.js';
import type { CallHandle } from '../lib/upstream/upstream.js';
import type { CallTimeouts, UpstreamHandler } from '../lib/upstream/upstream-handler.js';
import { judgeStatus } from './node-errors.js';
import { MalformedResponseError, REWRITE_MODEL_NAME } from './rewrite-model-name.js';
import type { Deployment } from './routing.js';

/** A vector of some thousand numbers. */
const MAX_BYTES = 1024 * 1024;

/** The smallest calls there are. */
const QUESTIONS: Readonly<Record<string, object>> = {
  '/chat/completions': { messages: [{ role: 'user', content: 'ping' }], max_tokens: 1 },
  '/embeddings': { input: 'ping' },
};

/** Sends a small call to a node. */
type Send = (path: string, body: Buffer, handler: UpstreamHandler) => CallHandle;

/** A node's answer to a small call, once it is whole. */
class SmallAnswer implements UpstreamHandler {
  readonly timeouts: CallTimeouts;
  /** Rejects when none comes in time, or too much of it. */
  readonly whole: Promise<Buffer>;
  status = 0;
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

  onHead({ status }: ResponseHead): void {
    this.status = status;
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

async function asked(
  deployment: Deployment,
  path: string,
  timeoutMs: number,
  send: Send,
): Promise<'answered' | 'refused'> {
  const question = { model: deployment.node.read().upstreamModel, ...QUESTIONS[path] };
  const answer = new SmallAnswer(timeoutMs);
  const connection = send(path, Buffer.from(JSON.stringify(question)), answer);
  // Pieces that come one by one may take long together.
  const endLimit = graceTimeout(timeoutMs, () => {
    connection.abort(answer);
    answer.onError(new Error('it took too long'));
  });
  const body = await answer.whole.finally(endLimit);
  if (answer.status > 299) {
    const verdict = judgeStatus(answer.status, body.toString(), undefined, deployment, GENERAL_MASK);
    // One that names the field in which it takes a bound has understood all else.
    if (verdict.kind === 'refused') return verdict.takes === undefined ? 'refused' : 'answered';
    throw new Error(`status ${answer.status}`);
  }
  const { kind } = REWRITE_MODEL_NAME.run({ body, model: deployment.group, path, answers: 1 });
  if (kind !== 'answer') throw new Error(`an answer that is ${kind}`);
  return 'answered';
}

/**
 * Whether a node works: it answers the kind of call that it last served, or says what it needs instead. If it hasn't
 * served anything yet, it is unknown whether it is a chat or an embedding model, so either answer counts. Never
 * rejects.
 */
export async function probe(
  deployment: Deployment,
  path: string | undefined,
  timeoutMs: number,
  send: Send,
): Promise<boolean> {
  const paths = path === undefined ? Object.keys(QUESTIONS) : [path];
  const ends = await Promise.allSettled(paths.map((one) => asked(deployment, one, timeoutMs, send)));
  return ends.some((end) => end.status === 'fulfilled' && (end.value === 'answered' || path !== undefined));
}
