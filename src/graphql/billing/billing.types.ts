import { Field, ObjectType } from 'type-graphql';
import {
  balanceOutput,
  ledgerDayOutput,
  ledgerEntryOutput,
  ledgerMonthOutput,
  modelOutput,
  planOutput,
  usageChargeOutput,
  usageItemOutput,
  usageReceiptOutput,
  usageTotalsOutput,
} from '../../services/billing/billing.outputs.js';
import { connectionOf, pageOf } from '../connections.js';
import { enumOf } from '../enum-of.js';
import { outputFields } from '../zod-fields.js';

@ObjectType({ description: planOutput.description })
export class Plan extends outputFields(planOutput) {}

@ObjectType({ description: modelOutput.description })
export class Model extends outputFields(modelOutput) {}

export const UsageStatus = enumOf('UsageStatus', 'Outcome of a call.', usageItemOutput.shape.status, {
  success: 'The call succeeded and was charged.',
  error: 'The call failed and was not charged.',
});

const UsageEndpoint = enumOf('UsageEndpoint', 'API endpoint.', usageItemOutput.shape.endpoint, {
  chat: '`/v1/chat/completions`, or a widget chat.',
  embeddings: '`/v1/embeddings`.',
});

@ObjectType({ description: usageItemOutput.description })
export class UsageEvent extends outputFields(usageItemOutput, {
  endpoint: UsageEndpoint,
  status: UsageStatus,
}) {}

@ObjectType({ description: usageReceiptOutput.description })
export class UsageReceipt extends outputFields(usageChargeOutput) {
  @Field(() => UsageEvent, { description: 'The call.' })
  event!: UsageEvent;
}

@ObjectType({ description: usageTotalsOutput.description })
export class UsageTotals extends outputFields(usageTotalsOutput) {}

@ObjectType({ description: pageOf('usage events') })
export class UsageEventConnection extends connectionOf(UsageEvent, 'usage events') {}

const LedgerEntryKind = enumOf('LedgerEntryKind', 'Type of ledger entry.', ledgerEntryOutput.shape.kind, {
  starter: 'Starter credit for a new account.',
  topup: 'A top-up.',
  grant: 'Included credits of a plan.',
  usage: 'The charge for a call.',
  adjustment: 'A correction.',
});

@ObjectType({ description: ledgerEntryOutput.description })
export class LedgerEntry extends outputFields(ledgerEntryOutput, { kind: LedgerEntryKind }) {}

@ObjectType({ description: pageOf('ledger entries') })
export class LedgerEntryConnection extends connectionOf(LedgerEntry, 'ledger entries') {}

@ObjectType({ description: ledgerDayOutput.description })
export class LedgerDay extends outputFields(ledgerDayOutput) {}

@ObjectType({ description: ledgerMonthOutput.description })
export class LedgerMonth extends outputFields(ledgerMonthOutput, {
  charges: [LedgerDay],
  credits: [LedgerEntry],
}) {}

@ObjectType({ description: balanceOutput.description })
export class TopUpPayload extends outputFields(balanceOutput) {}
