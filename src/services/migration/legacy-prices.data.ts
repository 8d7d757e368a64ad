/** Providers whose prices are known. */
export const LEGACY_PROVIDERS = ['openai', 'anthropic', 'openrouter'] as const;
export type LegacyProvider = (typeof LEGACY_PROVIDERS)[number];

/** The providers' own spelling. */
export const PROVIDER_NAMES: Readonly<Record<LegacyProvider, string>> = {
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  openrouter: 'OpenRouter',
};

/** This product's models, without `gateway/`. */
export const OWN_MODELS = [
  'fast',
  'qwen-fast',
  'qwen-pro',
  'deepseek-code',
  'deepseek-reason',
  'embed',
] as const;
export type OwnModel = (typeof OWN_MODELS)[number];

/** List price of one model in dollars per million tokens. */
export interface LegacyPrice {
  name: string;
  input: string;
  output: string;
  /** Price of cached input; undefined if the provider has none. */
  cached?: string;
  /** The model of ours that replaces it. */
  own: OwnModel;
  /** Other names that no rule covers (`legacy-models.rules.ts`). */
  aliases?: readonly string[];
}

/** Where a provider publishes its prices, and when they were read. */
export interface PriceSource {
  url: string;
  readOn: string;
}

export const SOURCES: Readonly<Record<LegacyProvider, PriceSource>> = {
  openai: { url: 'https://platform.openai.com/docs/pricing', readOn: '2026-11-22' },
  anthropic: {
    url: 'https://platform.claude.com/docs/en/about-claude/pricing',
    readOn: '2026-11-22',
  },
  // OpenRouter charges list prices for models of OpenAI and Anthropic: https://openrouter.ai/docs/faq
  openrouter: { url: 'https://openrouter.ai/models', readOn: '2026-11-22' },
};

/**
 * Standard list prices, without batch and priority. For an unknown name, the first of the provider's models for the
 * matching model of ours is used.
 */
export const LEGACY_PRICES: Readonly<Record<LegacyProvider, readonly LegacyPrice[]>> = {
  openai: [
    {
      name: 'gpt-4o',
      input: '2.50',
      output: '10.00',
      cached: '1.25',
      own: 'qwen-pro',
      aliases: ['chatgpt-4o'],
    },
    { name: 'gpt-4o-mini', input: '0.15', output: '0.60', cached: '0.075', own: 'fast' },
    {
      name: 'gpt-5',
      input: '1.25',
      output: '10.00',
      cached: '0.125',
      own: 'qwen-pro',
      aliases: ['gpt-5-chat'],
    },
    { name: 'gpt-5.1', input: '1.25', output: '10.00', cached: '0.125', own: 'qwen-pro' },
    { name: 'gpt-5-mini', input: '0.25', output: '2.00', cached: '0.025', own: 'qwen-fast' },
    { name: 'gpt-5-nano', input: '0.05', output: '0.40', cached: '0.005', own: 'fast' },
    { name: 'gpt-5-codex', input: '1.25', output: '10.00', cached: '0.125', own: 'deepseek-code' },
    { name: 'gpt-5-pro', input: '15.00', output: '120.00', own: 'qwen-pro' },
    { name: 'gpt-4.1', input: '2.00', output: '8.00', cached: '0.50', own: 'qwen-pro' },
    { name: 'gpt-4.1-mini', input: '0.40', output: '1.60', cached: '0.10', own: 'qwen-fast' },
    { name: 'gpt-4.1-nano', input: '0.10', output: '0.40', cached: '0.025', own: 'fast' },
    { name: 'o3', input: '2.00', output: '8.00', cached: '0.50', own: 'deepseek-reason' },
    { name: 'o3-mini', input: '1.10', output: '4.40', cached: '0.55', own: 'deepseek-reason' },
    { name: 'o4-mini', input: '1.10', output: '4.40', cached: '0.275', own: 'deepseek-reason' },
    {
      name: 'o1',
      input: '15.00',
      output: '60.00',
      cached: '7.50',
      own: 'deepseek-reason',
      aliases: ['o1-preview'],
    },
    { name: 'o1-mini', input: '1.10', output: '4.40', cached: '0.55', own: 'deepseek-reason' },
    {
      name: 'gpt-4-turbo',
      input: '10.00',
      output: '30.00',
      own: 'qwen-pro',
      aliases: ['gpt-4-1106', 'gpt-4-0125'],
    },
    { name: 'gpt-4', input: '30.00', output: '60.00', own: 'qwen-pro', aliases: ['gpt-4-0613'] },
    {
      name: 'gpt-3.5-turbo',
      input: '0.50',
      output: '1.50',
      own: 'fast',
      aliases: ['gpt-3.5-turbo-0125', 'gpt-3.5-turbo-1106'],
    },
    { name: 'text-embedding-3-small', input: '0.02', output: '0', own: 'embed' },
    { name: 'text-embedding-3-large', input: '0.13', output: '0', own: 'embed' },
    { name: 'text-embedding-ada-002', input: '0.10', output: '0', own: 'embed' },
  ],
  anthropic: [
    { name: 'claude-3.5-sonnet', input: '3.00', output: '15.00', cached: '0.30', own: 'qwen-pro' },
    { name: 'claude-3-haiku', input: '0.25', output: '1.25', cached: '0.03', own: 'fast' },
    { name: 'claude-3.5-haiku', input: '0.80', output: '4.00', cached: '0.08', own: 'qwen-fast' },
    { name: 'claude-haiku-4.5', input: '1.00', output: '5.00', cached: '0.10', own: 'qwen-fast' },
    { name: 'claude-3-sonnet', input: '3.00', output: '15.00', cached: '0.30', own: 'qwen-pro' },
    { name: 'claude-3.7-sonnet', input: '3.00', output: '15.00', cached: '0.30', own: 'qwen-pro' },
    { name: 'claude-sonnet-4', input: '3.00', output: '15.00', cached: '0.30', own: 'qwen-pro' },
    { name: 'claude-sonnet-4.5', input: '3.00', output: '15.00', cached: '0.30', own: 'qwen-pro' },
    { name: 'claude-3-opus', input: '15.00', output: '75.00', cached: '1.50', own: 'qwen-pro' },
    { name: 'claude-opus-4', input: '15.00', output: '75.00', cached: '1.50', own: 'qwen-pro' },
    { name: 'claude-opus-4.1', input: '15.00', output: '75.00', cached: '1.50', own: 'qwen-pro' },
    { name: 'claude-opus-4.5', input: '5.00', output: '25.00', cached: '0.50', own: 'qwen-pro' },
  ],
  openrouter: [
    { name: 'qwen/qwen-2.5-72b-instruct', input: '0.12', output: '0.39', own: 'qwen-pro' },
    { name: 'meta-llama/llama-3.1-8b-instruct', input: '0.02', output: '0.05', own: 'fast' },
    { name: 'deepseek/deepseek-coder', input: '0.14', output: '0.28', own: 'deepseek-code' },
    { name: 'deepseek/deepseek-r1', input: '0.55', output: '2.19', own: 'deepseek-reason' },
    { name: 'deepseek/deepseek-chat', input: '0.56', output: '1.68', cached: '0.07', own: 'qwen-pro' },
    { name: 'meta-llama/llama-3.1-70b-instruct', input: '0.52', output: '0.75', own: 'qwen-pro' },
    { name: 'meta-llama/llama-3.1-405b-instruct', input: '2.70', output: '2.70', own: 'qwen-pro' },
    { name: 'mistralai/mistral-nemo', input: '0.17', output: '0.17', own: 'fast' },
  ],
};
