import { z } from 'zod';
import { decimal } from '../../lib/output-fields.js';

export const codeSnippetsOutput = z
  .object({
    python: z.string().describe('With the `openai` package of Python.'),
    node: z.string().describe('With the `openai` package of Node.js.'),
    curl: z.string().describe('With curl.'),
  })
  .meta({
    id: 'CodeSnippets',
    description: 'A first call to the recommended model. The key comes from `GATEWAY_API_KEY`.',
  });
export type CodeSnippetsOutput = z.infer<typeof codeSnippetsOutput>;

export const estimateOutput = z
  .object({
    recommended_pr_model: z.string().describe('The model that takes its place here.'),
    legacy_cost_usd_30d: decimal('Cost at the list price of the provider, in dollars.'),
    pr_cost_usd_30d: decimal('Cost here for as many tokens, in dollars.'),
    pr_cost_low_usd_30d: decimal('Cost here where our tokenizer needs a third less, in dollars.'),
    pr_cost_high_usd_30d: decimal('Cost here where our tokenizer needs a third more, in dollars.'),
    monthly_savings_usd: decimal('What you save in dollars; negative where it is dearer here.'),
    savings_pct: z
      .number()
      .describe(
        'Savings in percent of the legacy cost, 2 decimals; negative where it is dearer here, 0 where nothing is paid today.',
      ),
    approximate: z
      .boolean()
      .describe(
        "Whether the legacy model is unknown and the price is that of the provider's model most like it.",
      ),
    priced_as: z.string().describe('The model whose list price was taken.'),
    price_source: z.string().describe('Where the provider publishes that price.'),
    price_read_on: z.string().describe('UTC day on which it was read, `YYYY-MM-DD`.'),
    warnings: z.array(z.string()).describe('What makes the comparison less certain.'),
    code_snippets: codeSnippetsOutput,
  })
  .meta({
    id: 'MigrationEstimate',
    description: 'What your usage of today would cost here. An approximation from list prices.',
  });
export type EstimateOutput = z.infer<typeof estimateOutput>;
