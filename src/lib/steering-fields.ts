/**
 * Members of a `/v1` body that never go upstream, even if the operator lists them. Model proxies obey them for routing,
 * keys, prices or logs (requirement T2), or nodes take them as another bound on the answer than the one that the hold
 * was computed from.
 */
const STEERING = new Set([
  'additional_drop_params',
  'allowed_model_region',
  'allowed_openai_params',
  'api_base',
  'api_key',
  'api_type',
  'api_version',
  'base_model',
  'base_url',
  'cache',
  'caching',
  'callbacks',
  'client',
  'configurable_clientside_auth_params',
  'content_policy_fallbacks',
  'context_window_fallbacks',
  'cooldown_time',
  'custom_llm_provider',
  'default_fallbacks',
  'deployment_id',
  'disable_fallbacks',
  'drop_params',
  'enforced_params',
  'extra_body',
  'extra_headers',
  'failure_callback',
  'fallbacks',
  'guardrail_config',
  'guardrails',
  'headers',
  'input_cost_per_second',
  'input_cost_per_token',
  'kv_transfer_params',
  'logger_fn',
  'max_retries',
  'metadata',
  'model_config',
  'model_info',
  'model_list',
  'no-log',
  'no_log',
  'num_retries',
  'organization',
  'output_cost_per_second',
  'output_cost_per_token',
  'prompt_id',
  'prompt_label',
  'prompt_variables',
  'prompt_version',
  'provider_specific_header',
  'proxy_server_request',
  'region_name',
  'request_timeout',
  'retry_policy',
  'router_settings',
  'secret_fields',
  'service_callback',
  'specific_deployment',
  'success_callback',
  'tags',
  'timeout',
  'ttl',
  'turn_off_message_logging',
  'use_in_pass_through',
  'user_config',
]);

const STEERING_PREFIX =
  /^(?:mock_|litellm_|x-litellm-|x_litellm_|user_api_key|aws_|azure_|vertex_|google_|s3_|ssl_|gcs_|langfuse_|langsmith_|langtrace_|posthog_|arize_|lunary_|humanloop_|weave_|wandb_|slack_|bootstrap_)/;

/** Other names for the length and number of answers, which llama.cpp, Ollama, TGI and SGLang prefer over OpenAI's. */
const BOUND = new Set([
  'generation_config',
  'max_gen_len',
  'max_gen_length',
  'max_length',
  'max_seq_len',
  'max_sequence_length',
  'min_new_tokens',
  'n_cmpl',
  'n_keep',
  'n_predict',
  'num_beams',
  'num_ctx',
  'num_predict',
  'num_return_sequences',
  'options',
  'parameters',
  'sampling_params',
]);
const BOUND_FORM = /^max_.*tokens/;
const OWN_BOUNDS = new Set(['max_tokens', 'max_completion_tokens']);

/** Members that decide the price. A node that ignores case would accept other spellings. */
const DECIDING = new Set(['best_of', 'model', 'n', 'stream', 'stream_options']);

const TEMPLATE_ARGUMENT = 'chat_template_kwargs.';
/** Arguments of a chat template that replace the node's own. */
const TEMPLATE_OVERRIDES = new Set([
  'add_generation_prompt',
  'chat_template',
  'continue_final_message',
  'conversation',
  'conversations',
  'documents',
  'max_length',
  'messages',
  'padding',
  'return_assistant_tokens_mask',
  'return_dict',
  'return_tensors',
  'tokenize',
  'tokenizer',
  'tokenizer_kwargs',
  'tools',
  'truncation',
]);

/** Whether a member of a body never goes upstream, in upper or lower case. */
export function isSteering(name: string): boolean {
  if (OWN_BOUNDS.has(name)) return false;
  const lower = name.toLowerCase();
  if (lower !== name && DECIDING.has(lower)) return true;
  if (lower.startsWith(TEMPLATE_ARGUMENT)) {
    return TEMPLATE_OVERRIDES.has(lower.slice(TEMPLATE_ARGUMENT.length));
  }
  return STEERING.has(lower) || STEERING_PREFIX.test(lower) || BOUND.has(lower) || BOUND_FORM.test(lower);
}
