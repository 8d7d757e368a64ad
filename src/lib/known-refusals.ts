/**
 * What the documented nodes say when they refuse a request. Only words that appear here pass from a node to a caller:
 * nobody can list every name that a host, a path or a token may have, but these words are harmless. To let another
 * message through, add it as the node writes it.
 */
export const KNOWN_REFUSALS: readonly string[] = [
  // OpenAI, and whoever repeats its words.
  "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. Please reduce the length of the messages.",
  "Invalid type for 'messages[0].content': expected a string, but got an integer instead.",
  'expected one of a string, number, boolean, object, array of objects or strings, null, but got a float instead.',
  "Invalid value: 'x'. Supported values are: 'system', 'assistant', 'user', 'function', 'developer' and 'tool'.",
  "Missing required parameter: 'messages'. You must provide a model parameter.",
  'Unrecognized request argument supplied. Unknown parameter. Invalid parameter.',
  "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
  "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
  "Invalid schema for response_format 'x': In context=('properties', 'a'), 'additionalProperties' is required to be supplied and to be false.",
  "Invalid schema for function 'x': schema must be a JSON Schema of 'type: \"object\"', got 'type: \"None\"'.",
  "Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern.",
  "Invalid 'n': integer above maximum value. Expected a value <= 128, but got 500 instead.",
  "Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length 5 instead.",
  "Invalid 'input': string too short, below minimum value. It must not be empty.",
  "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages.",
  "Invalid parameter: messages with role 'tool' must be a response to a preceding (preceeding) message with 'tool_calls'.",
  "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
  "3.5 is greater than the maximum of 2 - 'temperature'. -1 is less than the minimum of 0 - 'top_p'. [] is too short - 'messages'",
  'We could not parse the JSON body of your request. What was sent was not valid JSON.',
  'This model does not support specifying dimensions. This model does not support image inputs or audio.',
  // vLLM.
  "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 4096 tokens and your request has 1000 input tokens (5000 > 4096 - 1000).",
  'You passed 9000 input tokens and requested 100 output tokens. However, the context length is only 8192, resulting in a maximum input length of 8092. Please reduce the length of the input prompt.',
  'max_tokens must be at least 1, got 0. temperature must be non-negative, got -1.0. top_p must be in (0, 1], got 2.0.',
  'top_k must be 0 (disable), or at least 1, got -2. presence_penalty must be in [-2, 2], got 3.0. repetition_penalty must be greater than zero, got 0.',
  'temperature must be between 0 and 2, got 3.5. temperature must be below 2, and above zero.',
  'n must be 1 when using greedy sampling, got 2. best_of must be greater than or equal to n, got n=3 and best_of=2.',
  'min_tokens must be less than or equal to max_tokens=5, got 6. stop cannot contain an empty string.',
  'stop strings are only supported when detokenize is True. Set detokenize=True to use stop.',
  'Requested sample logprobs of 25, which is greater than max allowed: 20. Requested prompt logprobs of 25.',
  '`top_logprobs` can only be used when `logprobs` is True. When using `top_logprobs`, `logprobs` must be set to true.',
  'Stream options can only be defined when `stream=True`. stream_options can only be set if stream is true.',
  '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
  'When using `tool_choice`, `tools` must be set. Tool choice "required" or "none" or a named tool.',
  'The tool specified in `tool_choice` does not match any of the specified `tools`. `tool_choice` must either be a named tool, "auto", or "none".',
  "You can only use one kind of guided decoding ('guided_json', 'guided_regex' or 'guided_choice').",
  'You can only use one kind of constraints for structured outputs but multiple are specified.',
  'At most 1 image(s) may be provided in one request. At most 2 videos, audios may be provided in one prompt.',
  'It is not a multimodal model. Unknown part type: image. Unsupported content type in messages.',
  'The prompt (total length 5000) is too long to fit into the model (context length 4096). Make sure that `max_model_len` is no smaller than the number of text tokens plus multimodal tokens.',
  'The decoder prompt (length 9000) is longer than the maximum model length of 8192. The decoder prompt cannot be empty.',
  'default chat template is no longer allowed, so you must provide a chat template if the tokenizer does not define one.',
  'Conversation roles must alternate user/assistant/user/assistant/... System role not supported. Only user and assistant roles are supported! After the optional system message.',
  'This model does not support matryoshka representation, changing output dimensions will lead to poor results.',
  'The model does not support Chat Completions API. The model does not support Embeddings API.',
  'The model does not exist. The model was not found. Token id 999 is out of vocabulary.',
  'Failed to convert the grammar. Grammar error. Failed to compile the regex. The provided JSON schema contains features not supported by xgrammar or outlines.',
  'Please provide at least one prompt. Either prompt or messages must be given. Both may not be used at the same time.',
  // FastAPI and pydantic.
  '1 validation error for ChatCompletionRequest, CompletionRequest, EmbeddingRequest; 2 validation errors. Value error. Assertion failed.',
  'Field required. Extra inputs are not permitted. Input should be a valid string, integer, number, boolean, list, dictionary, object, or tuple.',
  'Input should be greater than or equal to 0. Input should be less than 2. Input should be a finite number. Input should be None, null.',
  'Input should be a valid integer, got a number with a fractional part. Input should be a valid integer, unable to parse string as an integer.',
  "Input tag 'x' found using 'role' does not match any of the expected tags: 'system', 'user'. Unable to extract tag using discriminator.",
  'List should have at least 1 item after validation, not 0. Dictionary should have items. String should have at most 64 characters. String should match pattern. JSON decode error. Invalid JSON: EOF while parsing a value, expected value at line 1 column 2. For further information visit. input_value, input_type=dict, str, int, float, bool.',
  // SGLang.
  "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
  "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of 9000 tokens: 8000 tokens from the input messages and 1000 tokens for the completion. Please reduce the number of tokens in the input messages or the completion to fit within the limit.",
  'Input length (9000 tokens) exceeds the maximum allowed length (8186 tokens). Use a shorter input or enable --allow-auto-truncate.',
  'Multimodal prompt is too long after expanding multimodal tokens.',
  // Text Generation Inference.
  'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100 `max_new_tokens`',
  'Input validation error: `inputs` must have less than 4095 tokens. Given: 5000. `inputs` cannot be empty',
  '`temperature` must be strictly positive. `top_p` must be > 0.0 and < 1.0. `best_of` != 1 is not allowed for this endpoint. `stop` supports up to 4 stop sequences.',
  'Template error. Tool error. Incomplete generation. Request failed during generation.',
  'Failed to deserialize the JSON body into the target type: messages[0].role: unknown variant `x`, expected one of `system`, `user` at line 1 column 30: missing field, unknown field, invalid type: string, map, sequence, expected a string',
  // llama.cpp and Ollama.
  'the request exceeds the available context size. try increasing the context size or enable context shift',
  'request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it',
  'tools param requires --jinja flag. Cannot use both json_schema and grammar. Cannot use custom grammar constraints with tools.',
  'Expected "messages" to be an array. Only one completion choice is allowed. "top_logprobs" requires "logprobs" to be set to true. Unsupported tool_choice. Invalid tool_choice.',
  "Failed to parse messages: Missing 'role' in message; All non-assistant messages must contain 'content'. parse error, syntax error while parsing value - invalid literal; last read, unexpected end of input",
  'input is too large to process. increase the physical batch size. input content cannot be empty. image input is not supported. This server does not support tools.',
  'the input length exceeds the context length. model is required. invalid message content type. invalid options. this model does not support thinking.',
  'json: cannot unmarshal string into Go struct field ChatCompletionRequest.temperature of type float64',
  // Mistral.
  'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant. Unexpected role after. Tool call id has to be defined.',
  // LiteLLM, and our own model proxy.
  'vLLM does not support the parameter seed. Invalid model name passed in model=x. Call `/v1/models` to view available models. GET /v1/models lists the models.',
  'The request body must be a JSON object. model and stream may be given once only. model must be a string. The model refused the request. Check messages, tools and parameters against what the model supports.',
  'The answer is too large, larger than 64 MiB. Ask for less in one request: fewer inputs, a smaller n, max_tokens or top_logprobs.',
  // The simulator.
  'simulated error 503. unknown simulator control; known are delay_ms, ttft_ms, chunk_ms, status, retry_after, abort_after, stall_after, words, calls, usage, tokens, error_first, garbage, truncate, no_done, echo_canary, encoding, content_type',
  'simulator control takes 1 to 5, none, zero, negative, nan, string, huge, continuous, with_choices, float, base64, prompt/completion, such as a media type',
  'The simulator reads at most 50000 values of a body. The body is not valid JSON. The model does not support chat completions. The model does not support embeddings.',
  'is required; must be a text, texts, tokens or arrays of tokens, none of them empty; must be at least 1, at most 768',
  'must have at least 1 entry, 1 character, at most 128 entries; must not be more than 5; must be one of; must be an object, a list, a whole number',
];

/** Members of requests. They may stand alone, or in a path such as `messages.0.content`. */
export const KNOWN_FIELDS: ReadonlySet<string> = new Set(
  `messages content role name text type function functions function_call tools tool_calls tool_choice tool_call_id
  parallel_tool_calls parameters arguments strict description properties required items enum additionalProperties
  response_format json_schema json_object schema format model stream stream_options include_usage n best_of stop seed
  max_tokens max_completion_tokens max_new_tokens max_model_len min_tokens min_p top_p top_k temperature typical_p tfs_z
  presence_penalty frequency_penalty repetition_penalty repeat_penalty length_penalty logit_bias logprobs top_logprobs
  prompt_logprobs echo suffix prompt input inputs body encoding_format dimensions user image_url input_audio video_url url
  detail file refusal audio modalities reasoning_effort reasoning thinking chat_template chat_template_kwargs
  add_generation_prompt continue_final_message add_special_tokens skip_special_tokens ignore_eos stop_token_ids bad_words
  guided_json guided_regex guided_choice guided_grammar structural_tag structured_outputs grammar documents mm_processor_kwargs
  truncate_prompt_tokens priority store metadata service_tier verbosity web_search_options prediction use_beam_search
  early_stopping include_stop_str_in_output spaces_between_special_tokens separate_reasoning enable_thinking input_type
  input_value index id`
    .split(/\s+/)
    .filter(Boolean),
);
