import { z } from 'zod';

const decimal = z.string().describe('Exact decimal, 6 to 12 digits after the point');
const timestamp = z.string().describe('ISO 8601 UTC, six digits of seconds and Z');

export const balanceOutput = z.object({
  balance_usd: decimal,
  plan_name: z.string(),
  monthly_quota_tokens: z.int().nullable().describe('null: no plan has a token quota'),
});
export type BalanceOutput = z.infer<typeof balanceOutput>;

export const ledgerEntryOutput = z.object({
  id: z.string(),
  kind: z.enum(['starter', 'topup', 'grant', 'usage', 'adjustment']),
  amount_usd: decimal.describe('Signed: negative for charges'),
  balance_after_usd: decimal,
  description: z.string().nullable(),
  event_id: z.string().nullable().describe('The usage event that a charge belongs to'),
  created_at: timestamp,
});
export const ledgerOutput = z.array(ledgerEntryOutput);
export type LedgerEntryOutput = z.infer<typeof ledgerEntryOutput>;

export const usageItemOutput = z.object({
  id: z.string().describe('The x-request-id of the call'),
  model_public_name: z.string().describe('The model that served'),
  requested_model: z.string(),
  key_id: z.string().nullable().describe('null for calls without a key, such as widget chats'),
  endpoint: z.enum(['chat', 'embeddings']),
  stream: z.boolean(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cost_usd: decimal,
  latency_ms: z.int(),
  ttft_ms: z.int().nullable().describe('Time to the first token'),
  status: z.enum(['success', 'error']),
  error_code: z.string().nullable(),
  http_status: z.int(),
  client_aborted: z.boolean(),
  estimated: z.boolean().describe('Tokens were estimated since the upstream reported none'),
  anomalous: z.boolean().describe("Reported tokens exceed the model's context"),
  created_at: timestamp,
});
export type UsageItemOutput = z.infer<typeof usageItemOutput>;

export const usageOutput = z.object({
  items: z.array(usageItemOutput),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
});
export type UsageOutput = z.infer<typeof usageOutput>;

export const planOutput = z.object({
  name: z.string(),
  monthly_price_usd: decimal,
  included_credits_usd: decimal,
  allowed_models: z.array(z.string()),
  requests_per_minute: z.int(),
});
export const plansOutput = z.array(planOutput);
export type PlanOutput = z.infer<typeof planOutput>;

export const modelOutput = z.object({
  model_public_name: z.string(),
  family: z.string(),
  context_window: z.int(),
  input_price_per_million_usd: decimal,
  output_price_per_million_usd: decimal,
  is_featured: z.boolean(),
});
export const modelsOutput = z.array(modelOutput);
export type ModelOutput = z.infer<typeof modelOutput>;
