import { z } from 'zod';
import { count, decimal, timestamp, uuid } from '../../lib/output-fields.js';

export const balanceOutput = z
  .object({
    balance_usd: decimal('Credit balance in US dollars.'),
    plan_name: z.string().describe('Plan name.'),
    monthly_quota_tokens: z.int().nullable().describe('Always null: plans have no token quota.'),
  })
  .meta({ id: 'Balance', description: 'Balance and plan of the account.' });
export type BalanceOutput = z.infer<typeof balanceOutput>;

export const billingConfigOutput = z
  .object({
    provider: z
      .enum(['mock', 'off'])
      .describe('How credit is added: `mock`, without payment, or `off`, by administrators only.'),
    amounts_usd: z.array(z.int()).describe('Amounts of a top-up in US dollars.'),
    auto_topup: z.boolean().describe('Whether credit can be added automatically.'),
  })
  .meta({ id: 'BillingConfig', description: 'How credit can be added in this installation.' });
export type BillingConfigOutput = z.infer<typeof billingConfigOutput>;

export const ledgerEntryOutput = z
  .object({
    id: uuid('Ledger entry ID.'),
    kind: z
      .enum(['starter', 'topup', 'grant', 'usage', 'adjustment'])
      .describe('Type of entry: starter credit, top-up, included plan credits, call charge or correction.'),
    amount_usd: decimal('Amount in US dollars. Negative for charges.'),
    balance_after_usd: decimal('Balance after this entry in US dollars.'),
    description: z.string().nullable().describe('Human-readable description.'),
    event_id: uuid(
      'ID of the one call that was charged, up to version 1.1; null for other entries.',
    ).nullable(),
    created_at: timestamp(
      'Creation time; of the newest `usage` entry while it grows, the time of its latest call.',
    ),
    // Last, so that the columns of the export keep their positions.
    calls: count('Number of calls that a `usage` entry charges; null for other kinds.').nullable(),
  })
  .meta({
    id: 'LedgerEntry',
    description:
      'A credit, or the charges of about an hour of calls. Entries are immutable, but for the newest one of kind `usage`: it grows with each charge until it is written, once an hour or before the next credit. Each call and its charge are in the usage list.',
  });
export const ledgerOutput = z.array(ledgerEntryOutput).describe('Entries, newest first.');
export type LedgerEntryOutput = z.infer<typeof ledgerEntryOutput>;

export const usageItemOutput = z
  .object({
    id: uuid('Usage event ID. Equals the `x-request-id` of the call.'),
    model_public_name: z.string().describe('Public name of the model that served the calls.'),
    requested_model: z.string().describe('Public name of the requested model.'),
    key_id: uuid('API key ID. Null for calls without a key, such as widget chats.').nullable(),
    endpoint: z.enum(['chat', 'embeddings']).describe('API endpoint.'),
    stream: z.boolean().describe('Whether the response was streamed.'),
    input_tokens: z.int().describe('Input tokens.'),
    output_tokens: z.int().describe('Output tokens.'),
    cost_usd: decimal('Charge in US dollars. 0 for failed calls.'),
    latency_ms: z.int().describe('Time from admission to the last byte, in milliseconds.'),
    ttft_ms: z.int().nullable().describe('Time to the first token in milliseconds, if there was one.'),
    status: z.enum(['success', 'error']).describe('Outcome of the call: `success` or `error`.'),
    error_code: z.string().nullable().describe('Error code, if the call failed.'),
    http_status: z
      .int()
      .describe(
        'HTTP status returned to the caller. If a stream failed before its first chunk, the status of that failure.',
      ),
    client_aborted: z.boolean().describe('Whether the caller disconnected before the end.'),
    estimated: z
      .boolean()
      .describe("Whether token counts were estimated because the upstream didn't report plausible ones."),
    anomalous: z
      .boolean()
      .describe(
        "Whether the reported tokens exceed the model's context window. They are charged as reported.",
      ),
    prompt_version_id: uuid(
      'Prompt version named by the `X-Gateway-Prompt-Version` header; null if there was none, or none of this account.',
    ).nullable(),
    created_at: timestamp('Completion time.'),
    // Last, so that the columns of the export keep their positions.
    widget_id: uuid('ID of the widget that made the call. Null for calls with an API key.').nullable(),
    error_message: z
      .string()
      .nullable()
      .describe(
        "Why the call failed, at most 500 characters; null if it succeeded. A node's message ends in `…` where it may quote the prompt.",
      ),
    balance_after_usd: decimal(
      'Balance after the charge in US dollars; null if nothing was charged. For calls before version 1.2, only the receipt has it.',
    ).nullable(),
  })
  .meta({
    id: 'UsageEvent',
    description: 'The usage record of one call. Prompts and responses are never stored.',
  });
export type UsageItemOutput = z.infer<typeof usageItemOutput>;

/** The prices and the charge of a call. */
export const usageChargeOutput = z.object({
  input_price_per_million_usd: decimal(
    'Price per million input tokens in US dollars, at the time of the call.',
  ),
  output_price_per_million_usd: decimal(
    'Price per million output tokens in US dollars, at the time of the call.',
  ),
  ledger_entry_id: uuid('ID of the ledger entry of the charge; null if nothing was charged.').nullable(),
  balance_before_usd: decimal(
    'Balance before the charge in US dollars; null if nothing was charged.',
  ).nullable(),
  balance_after_usd: decimal(
    'Balance after the charge in US dollars; null if nothing was charged.',
  ).nullable(),
});
export const usageReceiptOutput = usageItemOutput
  .extend(usageChargeOutput.shape)
  .meta({ id: 'UsageReceipt', description: 'One call with its prices and its charge.' });
export type UsageReceiptOutput = z.infer<typeof usageReceiptOutput>;

export const usageTotalsOutput = z
  .object({
    calls: count('Number of calls.'),
    cost_usd: decimal('Cost in US dollars.'),
  })
  .describe('Totals of calls.');
export type UsageTotalsOutput = z.infer<typeof usageTotalsOutput>;

export const ledgerDayOutput = z
  .object({
    date: z.string().describe('UTC day, `YYYY-MM-DD`.'),
    calls: count('Number of charged calls.'),
    amount_usd: decimal('Sum of the charges in US dollars, negative.'),
  })
  .meta({ id: 'LedgerDay', description: 'Charges of one UTC day, summed up.' });
export const ledgerMonthOutput = z
  .object({
    charges: z.array(ledgerDayOutput).describe('Charges per UTC day, newest first.'),
    credits: z.array(ledgerEntryOutput).describe('All other entries, newest first, at most 500.'),
    credits_truncated: z
      .boolean()
      .describe('Whether the month has more of these entries than `credits` lists.'),
    has_older: z.boolean().describe('Whether there are entries from before the month.'),
  })
  .meta({
    id: 'LedgerMonth',
    description: 'One UTC month of the ledger, with the charges summed up per day.',
  });
export type LedgerMonthOutput = z.infer<typeof ledgerMonthOutput>;

export const usageOutput = z
  .object({
    items: z.array(usageItemOutput).describe('Usage events, newest first.'),
    total: z.int().describe('Total number of usage events of the account.'),
    limit: z.int().describe('As requested.'),
    offset: z.int().describe('As requested.'),
  })
  .meta({ id: 'UsagePage', description: 'A page of usage events.' });
export type UsageOutput = z.infer<typeof usageOutput>;

export const planOutput = z
  .object({
    name: z.string().describe('Plan name.'),
    monthly_price_usd: decimal('Monthly price in US dollars.'),
    included_credits_usd: decimal(
      'Included credits per month in US dollars. On the `free` plan, granted once at sign-up.',
    ),
    allowed_models: z.array(z.string()).describe('Public names of the allowed models.'),
    requests_per_minute: z.int().describe('Rate limit for `/v1`, in requests per minute and account.'),
  })
  .meta({ id: 'Plan', description: 'A plan.' });
export const plansOutput = z.array(planOutput).describe('Plans, cheapest first.');
export type PlanOutput = z.infer<typeof planOutput>;

export const modelOutput = z
  .object({
    model_public_name: z.string().describe('Public model name, used in requests.'),
    family: z.string().describe('Model family.'),
    context_window: z.int().describe('Context window, in tokens.'),
    input_price_per_million_usd: decimal('Price per million input tokens in US dollars.'),
    output_price_per_million_usd: decimal('Price per million output tokens in US dollars.'),
    is_featured: z.boolean().describe('Whether the model is featured.'),
  })
  .meta({ id: 'Model', description: 'A model and its prices.' });
export const modelsOutput = z.array(modelOutput).describe('Models.');
export type ModelOutput = z.infer<typeof modelOutput>;
