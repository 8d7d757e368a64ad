import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import {
  ledgerExportInput,
  pageInput,
  topUpHeaders,
  topUpInput,
  usageFilterInput,
  usageParams,
} from '../services/billing/billing.inputs.js';
import {
  balanceOutput,
  billingConfigOutput,
  ledgerOutput,
  modelsOutput,
  plansOutput,
  usageOutput,
  usageReceiptOutput,
} from '../services/billing/billing.outputs.js';
import { rejectedCallOutput } from '../services/refusals/refusals.outputs.js';
import { restRoutes } from './operations.js';
import { reads, writes } from './route-rules.js';

const csv = (description: string) => ({
  description,
  content: { 'text/csv': { schema: z.string().describe('CSV data (RFC 4180).') } },
});

function sendCsv(reply: FastifyReply, name: string, lines: AsyncIterable<string>): never {
  reply.header('content-disposition', `attachment; filename="${name}"`).type('text/csv; charset=utf-8');
  return reply.send(Readable.from(lines)) as never;
}

/** A call by its id: its receipt, or why it was rejected. */
const callOutput = z
  .union([usageReceiptOutput, rejectedCallOutput])
  .meta({ id: 'CallById', description: 'A call, or a call that was rejected before it reached a model.' });

/** Balance, top-up, ledger, usage, plans and models. */
export const billingRoutes = restRoutes('Billing', (route, { billing }) => {
  route('GET /api/billing/balance', reads(), {
    operationId: 'getBalance',
    summary: 'Get your balance',
    description: 'Returns the credit balance and plan of the account.',
    returns: { 200: balanceOutput },
    run: ({ context }) => billing.balance(context),
  });

  route('GET /api/billing/config', reads({ auth: 'none' }), {
    operationId: 'getBillingConfig',
    summary: 'Get how credit is added',
    description: 'Returns whether and how credit can be added in this installation.',
    returns: { 200: billingConfigOutput },
    run: () => billing.config(),
  });

  route('POST /api/billing/topup', writes(), {
    operationId: 'topUp',
    summary: 'Add credit',
    description:
      'Adds credit. This is a mock: no card is charged, and the balance changes immediately. Where top-ups are off, as they are in production by default, the request fails with 403 `topup_disabled`. Repeating a request with the same `Idempotency-Key` and amount returns the original balance, with the present plan, without adding credit again.',
    headers: topUpHeaders,
    body: topUpInput,
    returns: { 200: balanceOutput },
    errors: [403, 409],
    run: ({ context, body, headers }) =>
      billing.topUp(context, {
        ...body,
        idempotencyKey: headers['idempotency-key'],
      }),
  });

  route('GET /api/billing/ledger', reads(), {
    operationId: 'listLedger',
    summary: 'List ledger entries',
    description: 'Lists top-ups, grants, charges and corrections, newest first.',
    query: pageInput,
    returns: { 200: ledgerOutput },
    run: ({ context, query }) => billing.ledger(context, query),
  });

  route('GET /api/billing/ledger.csv', reads({ rate: 'heavy' }), {
    operationId: 'exportLedger',
    summary: 'Export the ledger as CSV',
    description:
      'Exports all ledger entries, newest first, with the same fields as the list and a header line. If reading fails, the response ends early, without the final chunk.',
    query: ledgerExportInput,
    exposeHeadRoute: false,
    returns: { 200: csv('Ledger entries.') },
    run: async ({ context, query }, reply) =>
      sendCsv(reply, 'ledger.csv', await billing.ledgerCsv(context, query)),
  });

  route('GET /api/usage', reads(), {
    operationId: 'listUsage',
    summary: 'List usage',
    description:
      'Lists usage events, one per forwarded call, newest first. Prompts and responses are never stored.',
    query: pageInput,
    returns: { 200: usageOutput },
    run: ({ context, query }) => billing.usage(context, query),
  });

  route('GET /api/usage.csv', reads({ rate: 'heavy' }), {
    operationId: 'exportUsage',
    summary: 'Export usage as CSV',
    description:
      'Exports all usage events that match the filter, newest first, with the same fields as the usage list and a header line. Values that a spreadsheet would run as a formula are prefixed with an apostrophe. If reading fails, the response ends early, without the final chunk.',
    query: usageFilterInput,
    // A HEAD would read everything and send nothing.
    exposeHeadRoute: false,
    returns: { 200: csv('Usage events.') },
    run: async ({ context, query }, reply) =>
      sendCsv(reply, 'usage.csv', await billing.usageCsv(context, query)),
  });

  route('GET /api/usage/:id', reads(), {
    operationId: 'getUsage',
    summary: 'Get a call',
    description:
      'Returns a call by its `x-request-id`, with the prices at that time and its charge. For a call that was rejected before it reached a model, returns the reason. Rejected calls are kept for 30 days; of similar ones in one hour, only the latest 50.',
    params: usageParams,
    returns: { 200: callOutput },
    run: ({ context, params }) => billing.call(context, params.id),
  });

  route('GET /api/plans', reads({ auth: 'none' }), {
    operationId: 'listPlans',
    summary: 'List plans',
    description: 'Lists all plans with their prices, included credits and limits.',
    returns: { 200: plansOutput },
    run: ({ context }) => billing.plans(context),
  });

  route('GET /api/models', reads({ auth: 'none' }), {
    operationId: 'listModels',
    summary: 'List models',
    description: 'Lists all public models with their prices.',
    returns: { 200: modelsOutput },
    run: ({ context }) => billing.models(context),
  });
});
