import { isPublicSources } from './citations.js';
import {
  arrayOrNull,
  containerOrNull,
  exactly,
  plainToken,
  plainTokenOrNull,
  type ValueCheck,
  wholeNumber,
} from './plain-values.js';

/** A member of an answer that passes. */
export interface MemberRule {
  /** A separate bit. */
  bit: number;
  /** What its value must be; nothing: it is looked at elsewhere. */
  check?: ValueCheck;
  /** The JSON that is sent where its value isn't that, from the call's id; nothing: the member is dropped. */
  instead?: (callId: string) => string;
}

/** The top-level members of an answer that pass, by name. */
export type AnswerForm = ReadonlyMap<string, MemberRule>;

type Rule = Omit<MemberRule, 'bit'>;

const formOf = (rules: Record<string, Rule>): AnswerForm =>
  new Map(Object.entries(rules).map(([name, rule], at) => [name, { bit: 1 << at, ...rule }]));

/** Creation time of a UUIDv7, in seconds. */
const secondsOf = (id: string): number =>
  Math.floor(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) / 1000);

/** What every answer has. An upstream may write an address where a plain value belongs. */
const frame = (object: string, prefix: string): Record<string, Rule> => ({
  id: { check: plainToken(128), instead: (callId) => `"${prefix}-${callId}"` },
  object: { check: exactly(object), instead: () => JSON.stringify(object) },
  created: { check: wholeNumber, instead: (callId) => String(secondsOf(callId)) },
  model: {},
  usage: {},
});

/**
 * OpenAI's own and the documented extensions that SDKs read, of vLLM, SGLang, llama.cpp, LiteLLM, Azure and
 * Perplexity. The rest tells about the upstream: `kv_transfer_params` names hosts, `provider` a supplier, `__verbose`
 * repeats the prompt.
 */
const chat = (object: string): AnswerForm =>
  formOf({
    ...frame(object, 'chatcmpl'),
    choices: { check: arrayOrNull },
    system_fingerprint: { check: plainTokenOrNull(64) },
    service_tier: { check: plainTokenOrNull(32) },
    obfuscation: { check: plainTokenOrNull(256) },
    prompt_filter_results: { check: containerOrNull },
    prompt_logprobs: { check: containerOrNull },
    prompt_token_ids: { check: containerOrNull },
    timings: { check: containerOrNull },
    prompt_progress: { check: containerOrNull },
    citations: { check: isPublicSources },
    search_results: { check: isPublicSources },
  });

/** A whole chat answer. */
export const CHAT = chat('chat.completion');
/** A chunk of a chat stream. */
export const CHAT_CHUNK = chat('chat.completion.chunk');
/** An embeddings answer. */
export const EMBEDDINGS = formOf({ ...frame('list', 'embd'), data: {} });
