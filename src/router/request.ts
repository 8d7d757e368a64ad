import { countInputs } from '../lib/embedding-inputs.js';
import { findMembers, type Member } from '../lib/json-scan.js';
import { badRequest, type ProxyError } from './answers.js';
import { BOUND_FIELDS, OutputBound } from './output-bound.js';

/** What the router knows of a call, read without parsing the whole body. */
export interface ProxyRequest {
  /** `/chat/completions` or `/embeddings`. */
  path: string;
  body: Buffer;
  /** The public name. */
  model: string;
  /** Position of `model` in the body. */
  member: Member;
  /** Bound of the answer; never set for embeddings. */
  bound: OutputBound;
  /** Whether the answer is a stream; only for chat. */
  stream: boolean;
  /** Number of choices requested, at least 1; for embeddings, of vectors. */
  answers: number;
  /** The caller's account, or the key if it belongs to none. */
  owner: string;
}

const QUOTE = 0x22;
const READ = ['model', 'stream', 'n', 'input', ...BOUND_FIELDS];

/** Reads a request's body, or returns the error to answer with. */
export function readRequest(path: string, body: unknown, owner: string): ProxyRequest | ProxyError {
  const members = Buffer.isBuffer(body) ? findMembers(body, READ) : undefined;
  if (!Buffer.isBuffer(body) || !members) return badRequest('The request body must be a JSON object.');
  const models = members.filter(({ key }) => key === 'model');
  const streams = members.filter(({ key }) => key === 'stream');
  if (models.length > 1 || streams.length > 1) return badRequest('model and stream may be given once only.');
  const member = models[0];
  if (!member || body[member.valueStart] !== QUOTE) return badRequest('model must be a string.', 'model');
  let model: string;
  try {
    model = JSON.parse(body.toString('utf8', member.valueStart, member.end)) as string;
  } catch {
    return badRequest('model must be a string.', 'model');
  }
  const asksForStream = streams.some(
    ({ valueStart, end }) => body.toString('latin1', valueStart, end) === 'true',
  );
  const stream = asksForStream && path !== '/embeddings';
  const bound = new OutputBound(body, path === '/embeddings' ? [] : members);
  return { path, body, model, member, bound, stream, answers: answersIn(path, body, members), owner };
}

function answersIn(path: string, body: Buffer, members: readonly Member[]): number {
  if (path === '/embeddings') {
    const input = members.findLast(({ key }) => key === 'input');
    return input ? countInputs(body, input) : 0;
  }
  const counts = members.filter(({ key }) => key === 'n');
  const values = counts.map(({ valueStart, end }) => Number(body.toString('latin1', valueStart, end)));
  return Math.max(1, ...values.filter(Number.isInteger));
}
