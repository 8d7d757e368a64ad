/** OpenAI's codes for requests that the caller can correct, and two of Groq's. Programs rely on them. */
const DOCUMENTED = new Set([
  ...['context_length_exceeded', 'string_above_max_length', 'string_below_min_length'],
  ...['array_above_max_length', 'array_below_min_length', 'integer_above_max_value'],
  ...['integer_below_min_value', 'decimal_above_max_value', 'decimal_below_min_value'],
  ...['invalid_type', 'invalid_value', 'missing_required_parameter', 'unknown_parameter'],
  ...['unsupported_parameter', 'unsupported_value', 'invalid_parameter_combination'],
  ...['invalid_function_parameters', 'invalid_prompt', 'invalid_encrypted_content'],
  ...['invalid_image', 'invalid_image_format', 'invalid_image_url', 'invalid_image_mode'],
  ...['invalid_base64_image', 'image_too_large', 'image_too_small', 'image_parse_error'],
  ...['image_file_too_large', 'image_file_not_found', 'empty_image_file', 'failed_to_download_image'],
  ...['unsupported_image_media_type', 'image_content_policy_violation'],
  ...['content_filter', 'content_policy_violation', 'json_validate_failed', 'tool_use_failed'],
]);

const OVERFLOW = 'context_length_exceeded';
/** llama.cpp's type of the same error. */
const OVERFLOW_TYPE = 'exceed_context_size_error';
/** Most servers mention the context in one of these ways. */
const CONTEXT = /\bcontext (?:length|window|size|limit)\b/i;
const BEYOND = /maximum|exceed|longer|too (?:long|large)|overflow|greater than|only \d/i;
const OVERFLOWS = [
  // LiteLLM
  /\bContextWindowExceededError\b/,
  // Anthropic, Bedrock, Fireworks
  /\b(?:prompt|input) is too long\b/i,
  // vLLM, xAI, TensorRT-LLM
  /\bmaximum (?:model|prompt|input) length\b/i,
  // Gemini
  /\binput token count\b.{0,40}\bexceeds\b/i,
  // TGI
  /`inputs` (?:tokens \+ `max_new_tokens` must be <=|must have less than \d)/,
  // TensorRT-LLM
  /\bprompt length\b.{0,100}\bshould not exceed\b/i,
  // Groq
  /\breduce the length of the (?:messages|prompt|input)\b/i,
];
/** The rest of a message may quote the caller. */
const MOST_READ = 1_000;

/**
 * The code to pass on for a refusal: the node's own if it is documented, or the code of a context overflow if the message is known to
 * mean one.
 */
export function refusalCode(message: string, code: unknown, type?: unknown): string | undefined {
  if (typeof code === 'string' && DOCUMENTED.has(code)) return code;
  if (type === OVERFLOW_TYPE) return OVERFLOW;
  const excerpt = message.slice(0, MOST_READ);
  const isOverflow =
    (CONTEXT.test(excerpt) && BEYOND.test(excerpt)) || OVERFLOWS.some((one) => one.test(excerpt));
  return isOverflow ? OVERFLOW : undefined;
}

/** The status of an error that came with a 200: its code if that is a status, 400 if only the caller can correct it, else 502. */
export function statusOfError({ code, type, message }: Record<'code' | 'type' | 'message', unknown>): number {
  const status = Number(code);
  if (Number.isInteger(status) && status >= 400 && status <= 599) return status;
  return refusalCode(String(message ?? ''), code, type) === undefined ? 502 : 400;
}
