import { ObjectType } from 'type-graphql';
import {
  balanceOutput,
  ledgerEntryOutput,
  modelOutput,
  planOutput,
  usageItemOutput,
} from '../../services/billing/billing.outputs.js';
import { connectionOf, pageOf } from '../connections.js';
import { enumOf } from '../enum-of.js';
import { outputFields } from '../zod-fields.js';

@ObjectType({ description: planOutput.description })
export class Plan extends outputFields(planOutput) {}

@ObjectType({ description: modelOutput.description })
export class Model extends outputFields(modelOutput) {}

export const UsageStatus = enumOf('UsageStatus', 'How a call ended.', usageItemOutput.shape.status, {
  success: 'With an answer, which is charged.',
  error: 'With an error, which costs nothing.',
});

const UsageEndpoint = enumOf('UsageEndpoint', 'What was called.', usageItemOutput.shape.endpoint, {
  chat: '`/v1/chat/completions`, or a chat of a widget.',
  embeddings: '`/v1/embeddings`.',
});

@ObjectType({ description: usageItemOutput.description })
export class UsageEvent extends outputFields(usageItemOutput, {
  endpoint: UsageEndpoint,
  status: UsageStatus,
}) {}

@ObjectType({ description: pageOf('usage events') })
export class UsageEventConnection extends connectionOf(UsageEvent, 'usage events') {}

const LedgerEntryKind = enumOf('LedgerEntryKind', 'Why money moved.', ledgerEntryOutput.shape.kind, {
  starter: 'Starter credit of a new account.',
  topup: 'A top-up.',
  grant: 'Included credits of a plan.',
  usage: 'The charge of a call.',
  adjustment: 'A correction.',
});

@ObjectType({ description: ledgerEntryOutput.description })
export class LedgerEntry extends outputFields(ledgerEntryOutput, { kind: LedgerEntryKind }) {}

@ObjectType({ description: pageOf('movements of money') })
export class LedgerEntryConnection extends connectionOf(LedgerEntry, 'movements of money') {}

@ObjectType({ description: balanceOutput.description })
export class TopUpPayload extends outputFields(balanceOutput) {}
