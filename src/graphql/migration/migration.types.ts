import { Field, Float, InputType, ObjectType, registerEnumType } from 'type-graphql';
import { LEGACY_PROVIDERS, type LegacyProvider } from '../../services/migration/legacy-prices.data.js';
import { type EstimateInput, estimateInput } from '../../services/migration/migration.inputs.js';
import {
  type CodeSnippetsOutput,
  codeSnippetsOutput,
  type EstimateOutput,
  estimateOutput,
} from '../../services/migration/migration.outputs.js';
import type { Camel } from '../case.js';
import { fieldDocs } from '../docs.js';
import { Decimal } from '../scalars.js';

const LegacyProviderEnum = Object.fromEntries(
  LEGACY_PROVIDERS.map((provider) => [provider.toUpperCase(), provider]),
) as Record<Uppercase<LegacyProvider>, LegacyProvider>;
registerEnumType(LegacyProviderEnum, {
  name: 'LegacyProvider',
  description: 'A provider whose list prices are known.',
  valuesConfig: {
    OPENAI: { description: 'OpenAI.' },
    ANTHROPIC: { description: 'Anthropic.' },
    OPENROUTER: { description: 'OpenRouter.' },
  },
});

const inputDoc = fieldDocs(estimateInput);

@InputType({ description: 'What you use today.' })
export class MigrationEstimateInput implements Camel<EstimateInput> {
  @Field(() => LegacyProviderEnum, { description: inputDoc.legacyProvider })
  legacyProvider!: LegacyProvider;

  @Field({ description: inputDoc.legacyModel })
  legacyModel!: string;

  @Field(() => Float, { name: 'inputTokens30d', description: inputDoc.inputTokens30d })
  inputTokens30d!: number;

  @Field(() => Float, { description: inputDoc.outputTokens30d })
  outputTokens30d!: number;

  @Field(() => Float, { nullable: true, description: inputDoc.cachedInputTokens30d })
  cachedInputTokens30d?: number;
}

const snippetsDoc = fieldDocs(codeSnippetsOutput);

@ObjectType({ description: codeSnippetsOutput.description })
export class CodeSnippets implements Camel<CodeSnippetsOutput> {
  @Field({ description: snippetsDoc.python })
  python!: string;

  @Field({ description: snippetsDoc.node })
  node!: string;

  @Field({ description: snippetsDoc.curl })
  curl!: string;
}

const doc = fieldDocs(estimateOutput);

@ObjectType({ description: estimateOutput.description })
export class MigrationEstimate implements Camel<EstimateOutput> {
  @Field({ description: doc.recommendedPrModel })
  recommendedPrModel!: string;

  @Field(() => Decimal, { description: doc.legacyCostUsd30d })
  legacyCostUsd30d!: string;

  @Field(() => Decimal, { description: doc.prCostUsd30d })
  prCostUsd30d!: string;

  @Field(() => Decimal, { description: doc.prCostLowUsd30d })
  prCostLowUsd30d!: string;

  @Field(() => Decimal, { description: doc.prCostHighUsd30d })
  prCostHighUsd30d!: string;

  @Field(() => Decimal, { description: doc.monthlySavingsUsd })
  monthlySavingsUsd!: string;

  @Field(() => Float, { description: doc.savingsPct })
  savingsPct!: number;

  @Field({ description: doc.approximate })
  approximate!: boolean;

  @Field({ description: doc.pricedAs })
  pricedAs!: string;

  @Field({ description: doc.priceSource })
  priceSource!: string;

  @Field({ description: doc.priceReadOn })
  priceReadOn!: string;

  @Field(() => [String], { description: doc.warnings })
  warnings!: string[];

  @Field(() => CodeSnippets, { description: codeSnippetsOutput.description })
  codeSnippets!: CodeSnippets;
}
