import { Float } from 'type-graphql';
import { estimateInput } from '../../services/migration/migration.inputs.js';
import { codeSnippetsOutput, estimateOutput } from '../../services/migration/migration.outputs.js';
import { camelCased } from '../case.js';
import { enumOf } from '../enum-of.js';
import { queryWithInput } from '../fields.js';
import { checked } from '../input.js';
import { objectType } from '../zod-fields.js';

enumOf('LegacyProvider', 'A provider whose list prices are known.', estimateInput.shape.legacy_provider, {
  openai: 'OpenAI.',
  anthropic: 'Anthropic.',
  openrouter: 'OpenRouter.',
});

objectType('CodeSnippets', codeSnippetsOutput);

/** The public cost estimate for another provider's usage. */
export const migrationResolvers = [
  queryWithInput('migrationEstimate', 'public', objectType('MigrationEstimate', estimateOutput), {
    description: estimateOutput.description,
    input: estimateInput,
    inputTypes: { inputTokens30d: Float, outputTokens30d: Float, cachedInputTokens30d: Float },
    argument: 'Your current usage.',
    run: ({ services }, input) => camelCased(services.migration.estimate(checked(estimateInput, input))),
  }),
];
