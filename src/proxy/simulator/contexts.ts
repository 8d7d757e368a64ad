/** Tokens that a prompt may have, by the names that proxy.config.yaml gives to the simulator's models; as the model table. */
const CONTEXTS: ReadonlyMap<string, number> = new Map([
  ['gemma-3-4b', 8_192],
  ['qwen3-8b', 32_768],
  ['qwen3-32b', 32_768],
  ['deepseek-coder-v2', 32_768],
  ['deepseek-r1-distill-32b', 32_768],
  ['nomic-embed-text-v1.5', 8_192],
]);

/** The model's context in tokens; a model of another name has no end. */
export const contextOf = (model: string): number => CONTEXTS.get(model) ?? Number.POSITIVE_INFINITY;
