import {
  arrayOrNull,
  containerOrNull,
  exactly,
  isPublicSources,
  plainToken,
  plainTokenOrNull,
  type ValueCheck,
  wholeNumber,
} from './value-checks.js';

/** The rule for a member that passes. */
export interface MemberRule {
  /** A separate bit per member. */
  bit: number;
  /** Whether the value passes. Without a check, the value is checked elsewhere. */
  check?: ValueCheck;
  /** Makes the JSON that replaces a value that doesn't pass. Without it, the member is dropped. */
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

/** The members of every answer. Values are checked because an upstream could put an address into any of them. */
const frame = (object: string, prefix: string): Record<string, Rule> => ({
  id: { check: plainToken(128), instead: (callId) => `"${prefix}-${callId}"` },
  object: { check: exactly(object), instead: () => JSON.stringify(object) },
  created: { check: wholeNumber, instead: (callId) => String(secondsOf(callId)) },
  model: {},
  usage: {},
});

/**
 * OpenAI's members and the documented extensions that SDKs read, from vLLM, SGLang, llama.cpp, LiteLLM, Azure and Perplexity.
 * Other members reveal the upstream: `kv_transfer_params` names hosts, `provider` names a supplier, and `__verbose` repeats
 * the prompt.
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
