import { z } from 'zod';
import { statementParams } from '../services/billing/billing.inputs.js';
import { outlookOutput } from '../services/billing/outlook.outputs.js';
import { statementOutput } from '../services/billing/statement.outputs.js';
import { restRoutes } from './operations.js';
import { reads } from './route-rules.js';

const CSV = '.csv';

/** The balance outlook and the monthly statement. */
export const statementRoutes = restRoutes('Billing', (route, { outlook, statements }) => {
  route('GET /api/billing/outlook', reads({ rate: 'heavy' }), {
    operationId: 'getBalanceOutlook',
    summary: 'Get the balance outlook',
    description:
      'Returns the balance, the recent average cost per day, and how many days the balance lasts at that rate.',
    returns: { 200: outlookOutput },
    run: ({ context }) => outlook.outlook(context),
  });

  route('GET /api/billing/statements/:month', reads({ rate: 'heavy' }), {
    operationId: 'getStatement',
    summary: 'Get a monthly statement',
    description:
      'Returns the opening balance, credits, charges and closing balance of a UTC month, with charges by day, model and API key. The totals equal the ledger. Add `.csv` to the month for a CSV file: between the opening and the closing balance, each day has a line for its credits and one for its charges, if any, oldest first, with the balance after it.',
    params: statementParams,
    returns: {
      200: {
        description: 'The statement.',
        content: {
          'application/json': { schema: statementOutput },
          'text/csv': { schema: z.string().describe('CSV data (RFC 4180).') },
        },
      },
    },
    run: async ({ context, params }, reply) => {
      const { month } = params;
      if (!month.endsWith(CSV)) return statements.statement(context, { month });
      const csv = await statements.statementCsv(context, { month: month.slice(0, -CSV.length) });
      reply
        .header('content-disposition', `attachment; filename="statement-${month}"`)
        .type('text/csv; charset=utf-8');
      return csv;
    },
  });
});
