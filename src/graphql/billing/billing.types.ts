import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import {
  balanceOutput,
  type LedgerEntryOutput,
  ledgerEntryOutput,
  type ModelOutput,
  modelOutput,
  type PlanOutput,
  planOutput,
  type UsageItemOutput,
  usageItemOutput,
} from '../../services/billing/billing.outputs.js';
import type { Camel } from '../case.js';
import { connectionOf, pageOf } from '../connections.js';
import { fieldDocs } from '../docs.js';
import { DateTime, Decimal } from '../scalars.js';

const planDoc = fieldDocs(planOutput);

@ObjectType({ description: planOutput.description })
export class Plan implements Camel<PlanOutput> {
  @Field({ description: planDoc.name })
  name!: string;

  @Field(() => Decimal, { description: planDoc.monthlyPriceUsd })
  monthlyPriceUsd!: string;

  @Field(() => Decimal, { description: planDoc.includedCreditsUsd })
  includedCreditsUsd!: string;

  @Field(() => [String], { description: planDoc.allowedModels })
  allowedModels!: string[];

  @Field(() => Int, { description: planDoc.requestsPerMinute })
  requestsPerMinute!: number;
}

const modelDoc = fieldDocs(modelOutput);

@ObjectType({ description: modelOutput.description })
export class Model implements Camel<ModelOutput> {
  @Field({ description: modelDoc.modelPublicName })
  modelPublicName!: string;

  @Field({ description: modelDoc.family })
  family!: string;

  @Field(() => Int, { description: modelDoc.contextWindow })
  contextWindow!: number;

  @Field(() => Decimal, { description: modelDoc.inputPricePerMillionUsd })
  inputPricePerMillionUsd!: string;

  @Field(() => Decimal, { description: modelDoc.outputPricePerMillionUsd })
  outputPricePerMillionUsd!: string;

  @Field({ description: modelDoc.isFeatured })
  isFeatured!: boolean;
}

export const UsageStatus = { SUCCESS: 'success', ERROR: 'error' } as const;
registerEnumType(UsageStatus, {
  name: 'UsageStatus',
  description: 'How a call ended.',
  valuesConfig: {
    SUCCESS: { description: 'With an answer, which is charged.' },
    ERROR: { description: 'With an error, which costs nothing.' },
  },
});

export const UsageEndpoint = { CHAT: 'chat', EMBEDDINGS: 'embeddings' } as const;
registerEnumType(UsageEndpoint, {
  name: 'UsageEndpoint',
  description: 'What was called.',
  valuesConfig: {
    CHAT: { description: '`/v1/chat/completions`, or a chat of a widget.' },
    EMBEDDINGS: { description: '`/v1/embeddings`.' },
  },
});

const usageDoc = fieldDocs(usageItemOutput);

@ObjectType({ description: usageItemOutput.description })
export class UsageEvent implements Camel<UsageItemOutput> {
  @Field(() => ID, { description: usageDoc.id })
  id!: string;

  @Field({ description: usageDoc.modelPublicName })
  modelPublicName!: string;

  @Field({ description: usageDoc.requestedModel })
  requestedModel!: string;

  @Field(() => ID, { nullable: true, description: usageDoc.keyId })
  keyId!: string | null;

  @Field(() => UsageEndpoint, { description: usageDoc.endpoint })
  endpoint!: 'chat' | 'embeddings';

  @Field({ description: usageDoc.stream })
  stream!: boolean;

  @Field(() => Int, { description: usageDoc.inputTokens })
  inputTokens!: number;

  @Field(() => Int, { description: usageDoc.outputTokens })
  outputTokens!: number;

  @Field(() => Decimal, { description: usageDoc.costUsd })
  costUsd!: string;

  @Field(() => Int, { description: usageDoc.latencyMs })
  latencyMs!: number;

  @Field(() => Int, { nullable: true, description: usageDoc.ttftMs })
  ttftMs!: number | null;

  @Field(() => UsageStatus, { description: usageDoc.status })
  status!: 'success' | 'error';

  @Field(() => String, { nullable: true, description: usageDoc.errorCode })
  errorCode!: string | null;

  @Field(() => Int, { description: usageDoc.httpStatus })
  httpStatus!: number;

  @Field({ description: usageDoc.clientAborted })
  clientAborted!: boolean;

  @Field({ description: usageDoc.estimated })
  estimated!: boolean;

  @Field({ description: usageDoc.anomalous })
  anomalous!: boolean;

  @Field(() => ID, { nullable: true, description: usageDoc.promptVersionId })
  promptVersionId!: string | null;

  @Field(() => DateTime, { description: usageDoc.createdAt })
  createdAt!: string;
}

@ObjectType({ description: pageOf('usage events') })
export class UsageEventConnection extends connectionOf(UsageEvent, 'usage events') {}

export const LedgerEntryKind = {
  STARTER: 'starter',
  TOPUP: 'topup',
  GRANT: 'grant',
  USAGE: 'usage',
  ADJUSTMENT: 'adjustment',
} as const;
registerEnumType(LedgerEntryKind, {
  name: 'LedgerEntryKind',
  description: 'Why money moved.',
  valuesConfig: {
    STARTER: { description: 'Starter credit of a new account.' },
    TOPUP: { description: 'A top-up.' },
    GRANT: { description: 'Included credits of a plan.' },
    USAGE: { description: 'The charge of a call.' },
    ADJUSTMENT: { description: 'A correction.' },
  },
});

const ledgerDoc = fieldDocs(ledgerEntryOutput);

@ObjectType({ description: ledgerEntryOutput.description })
export class LedgerEntry implements Camel<LedgerEntryOutput> {
  @Field(() => ID, { description: ledgerDoc.id })
  id!: string;

  @Field(() => LedgerEntryKind, { description: ledgerDoc.kind })
  kind!: LedgerEntryOutput['kind'];

  @Field(() => Decimal, { description: ledgerDoc.amountUsd })
  amountUsd!: string;

  @Field(() => Decimal, { description: ledgerDoc.balanceAfterUsd })
  balanceAfterUsd!: string;

  @Field(() => String, { nullable: true, description: ledgerDoc.description })
  description!: string | null;

  @Field(() => ID, { nullable: true, description: ledgerDoc.eventId })
  eventId!: string | null;

  @Field(() => DateTime, { description: ledgerDoc.createdAt })
  createdAt!: string;
}

@ObjectType({ description: pageOf('movements of money') })
export class LedgerEntryConnection extends connectionOf(LedgerEntry, 'movements of money') {}

const balanceDoc = fieldDocs(balanceOutput);

@ObjectType({ description: balanceOutput.description })
export class TopUpPayload {
  @Field(() => Decimal, { description: balanceDoc.balanceUsd })
  balanceUsd!: string;

  @Field({ description: balanceDoc.planName })
  planName!: string;

  @Field(() => Int, { nullable: true, description: balanceDoc.monthlyQuotaTokens })
  monthlyQuotaTokens!: number | null;
}
