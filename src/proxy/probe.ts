import type { Dispatcher } from 'undici';
import { judgeStatus } from './node-errors.js';
import { modelValue, restampJson, UpstreamGarbage } from './restamp.js';
import type { Deployment } from './routing.js';

/** A vector of some thousand numbers. */
const MAX_BYTES = 1024 * 1024;

/** The smallest calls there are. */
const QUESTIONS: Readonly<Record<string, object>> = {
  '/chat/completions': { messages: [{ role: 'user', content: 'ping' }], max_tokens: 1 },
  '/embeddings': { input: 'ping' },
};

/** Sends a small call to a node. */
type Send = (path: string, body: Buffer) => Promise<Dispatcher.ResponseData>;

async function asked(deployment: Deployment, path: string, send: Send): Promise<'answered' | 'refused'> {
  const question = { model: deployment.upstreamModel, ...QUESTIONS[path] };
  const { statusCode, body } = await send(path, Buffer.from(JSON.stringify(question)));
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new UpstreamGarbage('too much for one token');
    chunks.push(chunk);
  }
  if (statusCode > 299) {
    const { kind } = judgeStatus(statusCode, '', undefined, deployment);
    if (kind === 'refused') return 'refused';
    throw new Error(`status ${statusCode}`);
  }
  restampJson(Buffer.concat(chunks), modelValue(deployment.group), () => {
    throw new UpstreamGarbage('an error with 200');
  });
  return 'answered';
}

/**
 * Whether a node serves: it answers what it last served, or says what it wants otherwise of it. Of one that has served
 * nothing yet it isn't known whether it is a chat or an embedding model: it must answer either. Never rejects.
 */
export async function probe(deployment: Deployment, path: string | undefined, send: Send): Promise<boolean> {
  const paths = path === undefined ? Object.keys(QUESTIONS) : [path];
  const ends = await Promise.allSettled(paths.map((one) => asked(deployment, one, send)));
  return ends.some((end) => end.status === 'fulfilled' && (end.value === 'answered' || path !== undefined));
}
