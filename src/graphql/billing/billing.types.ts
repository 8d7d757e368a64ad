import {
  balanceOutput,
  billingConfigOutput,
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
import { connectionOf } from '../connections.js';
import { enumOf } from '../enum-of.js';
import { objectType } from '../zod-fields.js';

export const Plan = objectType('Plan', planOutput);
export const Model = objectType('Model', modelOutput);

export const UsageStatus = enumOf('UsageStatus', 'Outcome of a call.', usageItemOutput.shape.status, {
  success: 'The call succeeded and was charged.',
  error: 'The call failed and was not charged.',
});

enumOf('UsageEndpoint', 'API endpoint.', usageItemOutput.shape.endpoint, {
  chat: '`/v1/chat/completions`, `/v1/responses`, or a widget chat.',
  embeddings: '`/v1/embeddings`.',
});

export const UsageEvent = objectType('UsageEvent', usageItemOutput);
export const UsageEventConnection = connectionOf(UsageEvent, 'usage events');
export const UsageReceipt = objectType(
  'UsageReceipt',
  usageChargeOutput
    .extend({ event: usageItemOutput.describe('The call.') })
    .describe(usageReceiptOutput.description ?? ''),
);
export const UsageTotals = objectType('UsageTotals', usageTotalsOutput);

enumOf('LedgerEntryKind', 'Type of ledger entry.', ledgerEntryOutput.shape.kind, {
  starter: 'Starter credit for a new account.',
  topup: 'A top-up.',
  grant: 'Included credits of a plan.',
  usage: 'The charge for a call.',
  adjustment: 'A correction.',
});

export const LedgerEntry = objectType('LedgerEntry', ledgerEntryOutput);
export const LedgerEntryConnection = connectionOf(LedgerEntry, 'ledger entries');
objectType('LedgerDay', ledgerDayOutput);
export const LedgerMonth = objectType('LedgerMonth', ledgerMonthOutput);
enumOf('BillingProvider', 'How credit is added.', billingConfigOutput.shape.provider, {
  mock: 'Users add it themselves. This is a mock: no card is charged.',
  off: 'By administrators only.',
});
export const BillingConfig = objectType('BillingConfig', billingConfigOutput);
export const TopUpPayload = objectType('TopUpPayload', balanceOutput);
