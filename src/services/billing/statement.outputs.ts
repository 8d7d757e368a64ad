import { z } from 'zod';
import { count, decimal, uuid } from '../../lib/output-fields.js';

const calls = count('Number of charged calls.');
const charges = decimal('Charges in US dollars.');
const inputTokens = count('Input tokens of all calls.');
const outputTokens = count('Output tokens of all calls.');

export const statementDayOutput = z
  .object({
    date: z.string().describe('UTC day, `YYYY-MM-DD`.'),
    calls,
    charges_usd: charges,
    credits_usd: decimal('Credits and corrections in US dollars.'),
  })
  .meta({ id: 'StatementDay', description: 'One UTC day of a statement.' });

export const statementModelOutput = z
  .object({
    model_public_name: z.string().describe('Public name of the model that served the calls.'),
    calls,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    charges_usd: charges,
  })
  .meta({ id: 'StatementModel', description: 'One model of a statement.' });

export const statementKeyOutput = z
  .object({
    key_id: uuid('API key ID. Null for calls without a key, such as widget chats.').nullable(),
    name: z.string().nullable().describe('Name of the API key, also of a deleted one.'),
    calls,
    charges_usd: charges,
  })
  .meta({ id: 'StatementKey', description: 'One API key of a statement.' });

export const statementOutput = z
  .object({
    month: z.string().describe('UTC month, `YYYY-MM`.'),
    opening_balance_usd: decimal('Balance at the start of the month in US dollars.'),
    credits_usd: decimal('Top-ups, included credits and corrections of the month in US dollars.'),
    charges_usd: decimal('Charges for calls of the month in US dollars.'),
    closing_balance_usd: decimal(
      'Balance at the end of the month in US dollars: the opening balance plus credits minus charges. For the current month, the balance now.',
    ),
    by_day: z.array(statementDayOutput).describe('Days with credits or charges, oldest first.'),
    by_model: z.array(statementModelOutput).describe('Models, the most expensive first.'),
    by_key: z.array(statementKeyOutput).describe('API keys, the most expensive first.'),
  })
  .meta({
    id: 'Statement',
    description: 'One UTC month of the account. Its totals equal the ledger to the last digit.',
  });
export type StatementOutput = z.infer<typeof statementOutput>;
