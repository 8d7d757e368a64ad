import { type Member, readKey } from '../lib/json-scan.js';

/** Names of members, each with a bit of its own. */
export type KnownMembers = ReadonlyMap<string, number>;

const known = (names: string[]): KnownMembers => new Map(names.map((name, bit) => [name, 1 << bit]));

/**
 * What stands at the top of an answer or chunk goes on when SDKs and clients know it: OpenAI's own members and the
 * documented extensions of vLLM, SGLang, llama.cpp, LiteLLM, Azure and Perplexity. Anything else is the upstream's own
 * business (`kv_transfer_params` names hosts, `provider` a supplier, `__verbose` the whole prompt).
 */
export const CHAT_MEMBERS: KnownMembers = known([
  'id',
  'object',
  'created',
  'model',
  'choices',
  'usage',
  'system_fingerprint',
  'service_tier',
  'obfuscation',
  'prompt_filter_results',
  'prompt_logprobs',
  'prompt_token_ids',
  'timings',
  'prompt_progress',
  'citations',
  'search_results',
]);

/** Likewise, of an embeddings answer. */
export const EMBEDDINGS_MEMBERS: KnownMembers = known(['id', 'object', 'created', 'model', 'data', 'usage']);

/** The members of an answer, looked through. */
export interface AnswerMembers {
  /** Those that go on, in order: of two with one name the last, which is the one that parsers take. */
  kept: Member[];
  /** How many don't. */
  dropped: number;
  /** Whether the answer is an error, whatever else it says. */
  isError: boolean;
  model: Member | undefined;
  usage: Member | undefined;
  /** `choices`, or `data` of embeddings. */
  content: Member | undefined;
}

/** Looks through the members of an answer or chunk. `known` is what may stand there. */
export function readAnswer(json: Buffer, members: Member[], known: KnownMembers): AnswerMembers {
  const answer: AnswerMembers = {
    kept: members,
    dropped: 0,
    isError: false,
    model: undefined,
    usage: undefined,
    content: undefined,
  };
  let seen = 0;
  const kept: Member[] = [];
  // From the end: of two members with one name the last one counts.
  for (let i = members.length - 1; i >= 0; i--) {
    const member = members[i]!;
    const { key } = member;
    if (saysError(json, member)) answer.isError = true;
    const bit = known.get(key);
    if (bit === undefined || (seen & bit) !== 0) continue;
    seen |= bit;
    kept.push(member);
    if (key === 'model') answer.model = member;
    else if (key === 'usage') answer.usage = member;
    else if (key === 'choices' || key === 'data') answer.content = member;
  }
  answer.dropped = members.length - kept.length;
  if (answer.dropped > 0) answer.kept = kept.reverse();
  return answer;
}

/** `error` with anything in it, as everybody sends it, or `object: "error"`, as vLLM and SGLang did. */
function saysError(json: Buffer, member: Member): boolean {
  const { key, valueStart, end } = member;
  if (key === 'error') return !NO_ERROR.has(json.toString('latin1', valueStart, end));
  if (key !== 'object' || end - valueStart > LONGEST_ERROR_BYTES) return false;
  // Usually its length tells; an escape could hide it.
  const plain = end - valueStart !== ERROR_BYTES && !hasEscape(json, valueStart, end);
  return !plain && textOf(json, member) === 'error';
}

const NO_ERROR = new Set(['null', 'false', '0', '""']);
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ERROR_BYTES = '"error"'.length;
const LONGEST_ERROR_BYTES = '"\\u0065\\u0072\\u0072\\u006f\\u0072"'.length;

function hasEscape(json: Buffer, from: number, end: number): boolean {
  for (let at = from; at < end; at++) if (json[at] === BACKSLASH) return true;
  return false;
}

/** The text that a member's value is; undefined when it is something else. */
export function textOf(json: Buffer, { valueStart, end }: Member): string | undefined {
  if (json[valueStart] !== QUOTE) return undefined;
  try {
    return readKey(json, valueStart, end);
  } catch {
    return undefined;
  }
}

/** An answer made anew from the members that go on. */
export interface RebuiltAnswer {
  json: Buffer;
  /** Where the value of `choices` stands in it. */
  contentAt: number;
}

const OPEN = Buffer.from('{');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}');

/** The answer with nothing but the members that go on, and `model` as the name in it. */
export function rebuildAnswer(json: Buffer, answer: AnswerMembers, model: string): RebuiltAnswer {
  const parts: Buffer[] = [];
  let length = 0;
  let contentAt = -1;
  const add = (part: Buffer): void => {
    parts.push(part);
    length += part.length;
  };
  for (const member of answer.kept) {
    add(parts.length === 0 ? OPEN : COMMA);
    if (member === answer.content) contentAt = length + member.valueStart - member.start;
    if (member === answer.model) {
      add(json.subarray(member.start, member.valueStart));
      add(Buffer.from(JSON.stringify(model)));
    } else add(json.subarray(member.start, member.end));
  }
  if (parts.length === 0) add(OPEN);
  add(CLOSE);
  return { json: Buffer.concat(parts, length), contentAt };
}
