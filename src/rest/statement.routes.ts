import { z } from 'zod';
import { statementParams } from '../services/billing/billing.inputs.js';
import { statementOutput } from '../services/billing/statement.outputs.js';
import type { Services } from '../services.js';
import { errorResponses } from './error-responses.js';
import type { RestApp } from './rest-app.js';
import { reads } from './route-rules.js';

const CSV = '.csv';

/** A month of the account. */
export function statementRoutes(app: RestApp, { statements }: Services): void {
  app.route({
    method: 'GET',
    url: '/api/billing/statements/:month',
    config: reads({ rate: 'heavy' }),
    schema: {
      operationId: 'getStatement',
      tags: ['Billing'],
      summary: 'Get a monthly statement',
      description:
        'Returns the opening balance, credits, charges and closing balance of a UTC month, with charges by day, model and API key. The totals equal the ledger. Add `.csv` to the month for one line per day with credits or charges, oldest first, each with the balance after it.',
      params: statementParams,
      response: {
        200: {
          description: 'The statement.',
          content: {
            'application/json': { schema: statementOutput },
            'text/csv': { schema: z.string().describe('CSV data (RFC 4180).') },
          },
        },
        ...errorResponses(401, 404, 422),
      },
    },
    handler: async (request, reply) => {
      const { month } = request.params;
      if (!month.endsWith(CSV)) return statements.statement(request.context, { month });
      const csv = await statements.statementCsv(request.context, { month: month.slice(0, -CSV.length) });
      reply
        .header('content-disposition', `attachment; filename="statement-${month}"`)
        .type('text/csv; charset=utf-8');
      return csv;
    },
  });
}
