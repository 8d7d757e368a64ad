import { Float, InputType, ObjectType } from 'type-graphql';
import { estimateInput } from '../../services/migration/migration.inputs.js';
import { codeSnippetsOutput, estimateOutput } from '../../services/migration/migration.outputs.js';
import { enumOf } from '../enum-of.js';
import { inputFields, outputFields } from '../zod-fields.js';

const LegacyProvider = enumOf(
  'LegacyProvider',
  'A provider whose list prices are known.',
  estimateInput.shape.legacy_provider,
  { openai: 'OpenAI.', anthropic: 'Anthropic.', openrouter: 'OpenRouter.' },
);

@InputType({ description: estimateInput.description })
export class MigrationEstimateInput extends inputFields(estimateInput, {
  legacyProvider: LegacyProvider,
  inputTokens30d: Float,
  outputTokens30d: Float,
  cachedInputTokens30d: Float,
}) {}

@ObjectType({ description: codeSnippetsOutput.description })
export class CodeSnippets extends outputFields(codeSnippetsOutput) {}

@ObjectType({ description: estimateOutput.description })
export class MigrationEstimate extends outputFields(estimateOutput, { codeSnippets: CodeSnippets }) {}
