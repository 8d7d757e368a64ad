import type { Member } from '../../lib/json-scan.js';

/** The most common members, checked first. */
const USUAL = new Set([
  'model',
  'messages',
  'input',
  'stream',
  'stream_options',
  'temperature',
  'top_p',
  'n',
  'max_tokens',
  'max_completion_tokens',
  'stop',
  'tools',
  'tool_choice',
  'response_format',
  'encoding_format',
  'presence_penalty',
  'frequency_penalty',
  'seed',
  'user',
]);

/**
 * The rest of OpenAI's members for chat and embeddings. Left out are `metadata`, which controls model proxies, and
 * `web_search_options`, since searches cost the operator and have no price here.
 */
const OPENAI = [
  'audio',
  'dimensions',
  'function_call',
  'functions',
  'logit_bias',
  'logprobs',
  'modalities',
  'parallel_tool_calls',
  'prediction',
  'prompt_cache_key',
  'prompt_cache_retention',
  'reasoning_effort',
  'safety_identifier',
  'service_tier',
  'store',
  'top_logprobs',
  'verbosity',
];

/**
 * Members for sampling, output and reasoning documented by vLLM, SGLang, TGI, llama.cpp, Ollama, TensorRT-LLM, DeepSeek, Qwen
 * and Mistral, and members for embeddings documented by TEI, NIM, Cohere, Voyage and Jina. Left out are members that affect
 * other calls (`priority`, `id_slot`, `request_id`), choose other weights (`lora_path`) or hosts, or run the caller's code
 * (`chat_template`, `custom_logit_processor`).
 */
const NODES = [
  ...['add_generation_prompt', 'add_special_tokens', 'allowed_token_ids', 'bad_words', 'best_of'],
  ...['cache_prompt', 'cache_salt', 'chat_template_kwargs', 'continue_final_message', 'documents'],
  ...['dry_allowed_length', 'dry_base', 'dry_multiplier', 'dry_penalty_last_n', 'dry_sequence_breakers'],
  ...['dynatemp_exponent', 'dynatemp_range', 'ebnf', 'echo', 'grammar', 'guided_choice'],
  ...['guided_decoding_backend', 'guided_grammar', 'guided_json', 'guided_regex'],
  ...['guided_whitespace_pattern', 'guideline', 'ignore_eos', 'include_reasoning'],
  ...['include_stop_str_in_output', 'json_schema', 'length_penalty', 'min_keep', 'min_p', 'min_tokens'],
  ...['mirostat', 'mirostat_eta', 'mirostat_tau', 'no_stop_trim'],
  ...['prompt_logprobs', 'reasoning_format', 'regex', 'repeat_last_n', 'repeat_penalty'],
  ...['repetition_penalty', 'return_progress', 'return_token_ids', 'return_tokens_as_token_ids'],
  ...['samplers', 'separate_reasoning', 'skip_special_tokens', 'spaces_between_special_tokens'],
  ...['stop_regex', 'stop_token_ids', 'stream_reasoning', 'structural_tag', 'structured_outputs'],
  ...['timings_per_token', 'tool_prompt', 'top_k', 'top_n_sigma', 'truncate_prompt_tokens'],
  ...['typical_p', 'use_beam_search', 'xtc_probability', 'xtc_threshold'],
  ...['enable_thinking', 'prompt_mode', 'thinking', 'thinking_budget', 'thinking_token_budget'],
  ...['early_stopping', 'prompt_ignore_length', 'random_seed', 'safe_prompt', 'top_p_min'],
  ...['input_type', 'normalize', 'prompt_name', 'task', 'truncate', 'truncation', 'truncation_direction'],
];

const KNOWN = new Set([...OPENAI, ...NODES]);

/** Additional names to forward (`ALLOWED_BODY_FIELDS`, which rejects those that control a proxy). */
export type AllowedFields = ReadonlySet<string>;

/**
 * The values with which these members pass. Other service tiers change what the operator pays, and stored chats end up in the
 * operator's upstream account.
 */
const VALUES: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['service_tier', new Set(['"auto"', '"default"', 'null'])],
  ['store', new Set(['false', 'null'])],
]);
const LONGEST_VALUE_BYTES = 16;

/** Whether a member of a body is forwarded. */
export function passes(body: Buffer, { key, valueStart, end }: Member, allowed: AllowedFields): boolean {
  if (USUAL.has(key) || allowed.has(key)) return true;
  if (!KNOWN.has(key)) return false;
  const values = VALUES.get(key);
  if (!values) return true;
  return end - valueStart <= LONGEST_VALUE_BYTES && values.has(body.toString('latin1', valueStart, end));
}

const MOST_SHOWN = 16;
const LONGEST_SHOWN = 64;

/** A name from the caller, cut and reduced to safe characters, for a message or header. */
export const printableName = (name: string): string =>
  name.slice(0, LONGEST_SHOWN).replace(/[^\w.-]/g, '?') || '?';

/** Formats the names of dropped members as a header value: at most 16 names of 64 characters. */
export function droppedFieldsHeader(names: readonly string[]): string {
  const unique = [...new Set(names)];
  const shown = unique.slice(0, MOST_SHOWN).map(printableName);
  const more = unique.length - shown.length;
  return more > 0 ? `${shown.join(', ')}, and ${more} more` : shown.join(', ');
}
