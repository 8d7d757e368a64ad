import { z } from 'zod';
import { decimal } from '../../lib/output-fields.js';

export const codeSnippetsOutput = z
  .object({
    python: z.string().describe('Python, with the `openai` package.'),
    node: z.string().describe('Node.js, with the `openai` package.'),
    curl: z.string().describe('curl.'),
  })
  .meta({
    id: 'CodeSnippets',
    description:
      'Code of a first call to the recommended model. It reads the API key from `GATEWAY_API_KEY`.',
  });
export type CodeSnippetsOutput = z.infer<typeof codeSnippetsOutput>;

export const estimateOutput = z
  .object({
    recommended_pr_model: z.string().describe('Recommended model of this service.'),
    legacy_cost_usd_30d: decimal("Cost at the provider's list price, in US dollars."),
    pr_cost_usd_30d: decimal('Cost of the same number of tokens here, in US dollars.'),
    pr_cost_low_usd_30d: decimal('Cost here if our tokenizer produces a third fewer tokens, in US dollars.'),
    pr_cost_high_usd_30d: decimal('Cost here if our tokenizer produces a third more tokens, in US dollars.'),
    monthly_savings_usd: decimal(
      'Monthly savings in US dollars; negative if this service is more expensive.',
    ),
    savings_pct: z
      .number()
      .describe(
        'Savings as a percentage of the legacy cost, with 2 decimals; negative if this service is more expensive, 0 if the legacy cost is 0.',
      ),
    approximate: z
      .boolean()
      .describe(
        "Whether the legacy model is unknown and the price of the provider's most similar model was used.",
      ),
    priced_as: z.string().describe('Model whose list price was used.'),
    price_source: z.string().describe('URL where the provider publishes that price.'),
    price_read_on: z.string().describe('UTC day on which the price was read, `YYYY-MM-DD`.'),
    warnings: z.array(z.string()).describe('Reasons why the comparison is less certain.'),
    code_snippets: codeSnippetsOutput,
  })
  .meta({
    id: 'MigrationEstimate',
    description: 'What your current usage would cost here, estimated from list prices.',
  });
export type EstimateOutput = z.infer<typeof estimateOutput>;
