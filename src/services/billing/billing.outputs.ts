import { z } from 'zod';

/** Not checked on the way out: a row with an odd id is better shown than answered with 500. */
const uuid = (description: string) => z.string().meta({ description, format: 'uuid' });
const decimal = (description: string) =>
  z.string().describe(`${description} Exact decimal with 6 to 12 digits after the point.`);
const timestamp = (description: string) => z.string().describe(`${description} UTC, six digits and Z.`);

export const balanceOutput = z
  .object({
    balance_usd: decimal('Credit balance in dollars.'),
    plan_name: z.string().describe('Plan of the account.'),
    monthly_quota_tokens: z.int().nullable().describe('Always null: no plan has a token quota.'),
  })
  .meta({ id: 'Balance', description: 'Balance and plan.' });
export type BalanceOutput = z.infer<typeof balanceOutput>;

export const ledgerEntryOutput = z
  .object({
    id: uuid('Id of the entry.'),
    kind: z
      .enum(['starter', 'topup', 'grant', 'usage', 'adjustment'])
      .describe('Starter credit, top-up, included credits of a plan, charge of a call, or correction.'),
    amount_usd: decimal('Dollars, negative for charges.'),
    balance_after_usd: decimal('Balance after this entry in dollars.'),
    description: z.string().nullable().describe('What it is about, for people.'),
    event_id: uuid('The usage event that a charge belongs to.').nullable(),
    created_at: timestamp('Time of the entry.'),
  })
  .meta({ id: 'LedgerEntry', description: "One movement of the account's money. Entries never change." });
export const ledgerOutput = z.array(ledgerEntryOutput).describe('Entries, newest first.');
export type LedgerEntryOutput = z.infer<typeof ledgerEntryOutput>;

export const usageItemOutput = z
  .object({
    id: uuid('Id of the event: the `x-request-id` of the call.'),
    model_public_name: z.string().describe('The model that served.'),
    requested_model: z.string().describe('The model that was asked for.'),
    key_id: uuid('The API key; null for calls without one, such as widget chats.').nullable(),
    endpoint: z.enum(['chat', 'embeddings']).describe('What was called.'),
    stream: z.boolean().describe('Whether the answer was streamed.'),
    input_tokens: z.int().describe('Tokens in.'),
    output_tokens: z.int().describe('Tokens out.'),
    cost_usd: decimal('Charge in dollars; 0 for errors.'),
    latency_ms: z.int().describe('Milliseconds from admission to the last byte.'),
    ttft_ms: z.int().nullable().describe('Milliseconds to the first token, where there was one.'),
    status: z.enum(['success', 'error']).describe('How it ended.'),
    error_code: z.string().nullable().describe('Code of the error, where there was one.'),
    http_status: z.int().describe('Status that the caller received.'),
    client_aborted: z.boolean().describe('Whether the caller left before the end.'),
    estimated: z
      .boolean()
      .describe('Tokens were estimated since the upstream reported none that make sense.'),
    anomalous: z.boolean().describe("Reported tokens exceed the model's context; charged as reported."),
    prompt_version_id: uuid(
      "The version of a prompt that the call named by `X-Gateway-Prompt-Version`, where it is the account's own.",
    ).nullable(),
    created_at: timestamp('Completion of the call.'),
  })
  .meta({ id: 'UsageEvent', description: 'One call. Never its prompt or response.' });
export type UsageItemOutput = z.infer<typeof usageItemOutput>;

export const usageOutput = z
  .object({
    items: z.array(usageItemOutput).describe('Events, newest first.'),
    total: z.int().describe('Events of the account altogether.'),
    limit: z.int().describe('As asked for.'),
    offset: z.int().describe('As asked for.'),
  })
  .meta({ id: 'UsagePage', description: 'A page of usage events.' });
export type UsageOutput = z.infer<typeof usageOutput>;

export const planOutput = z
  .object({
    name: z.string().describe('Name of the plan.'),
    monthly_price_usd: decimal('Price per month in dollars.'),
    included_credits_usd: decimal('Credits per month in dollars; on plan `free` once, at sign-up.'),
    allowed_models: z.array(z.string()).describe('Public names of the models that may be called.'),
    requests_per_minute: z.int().describe('Calls of `/v1` per minute and account.'),
  })
  .meta({ id: 'Plan', description: 'A plan.' });
export const plansOutput = z.array(planOutput).describe('Plans, cheapest first.');
export type PlanOutput = z.infer<typeof planOutput>;

export const modelOutput = z
  .object({
    model_public_name: z.string().describe('Name to call it by.'),
    family: z.string().describe('Family of models that it belongs to.'),
    context_window: z.int().describe('Most tokens of a call.'),
    input_price_per_million_usd: decimal('Dollars per million tokens in.'),
    output_price_per_million_usd: decimal('Dollars per million tokens out.'),
    is_featured: z.boolean().describe('Whether it is shown first.'),
  })
  .meta({ id: 'Model', description: 'A model and what it costs.' });
export const modelsOutput = z.array(modelOutput).describe('Models.');
export type ModelOutput = z.infer<typeof modelOutput>;
