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
  ledgerOutput,
  modelsOutput,
  plansOutput,
  usageOutput,
  usageReceiptOutput,
} from '../services/billing/billing.outputs.js';
import type { Services } from '../services.js';
import { errorResponses } from './error-responses.js';
import type { RestApp } from './rest-app.js';
import { reads, writes } from './route-rules.js';

const tags = ['Billing'];

const csv = (description: string) => ({
  description,
  content: { 'text/csv': { schema: z.string().describe('CSV data (RFC 4180).') } },
});

function sendCsv(reply: FastifyReply, name: string, lines: AsyncIterable<string>): never {
  reply.header('content-disposition', `attachment; filename="${name}"`).type('text/csv; charset=utf-8');
  return reply.send(Readable.from(lines)) as never;
}

/** Balance, top-up, ledger, usage, plans and models. */
export function billingRoutes(app: RestApp, services: Services): void {
  const { billing } = services;

  app.route({
    method: 'GET',
    url: '/api/billing/balance',
    config: reads(),
    schema: {
      operationId: 'getBalance',
      tags,
      summary: 'Get your balance',
      description: 'Returns the credit balance and plan of the account.',
      response: { 200: balanceOutput, ...errorResponses(401) },
    },
    handler: async (request) => billing.balance(request.context),
  });

  app.route({
    method: 'POST',
    url: '/api/billing/topup',
    config: writes(),
    schema: {
      operationId: 'topUp',
      tags,
      summary: 'Add credit',
      description:
        'Adds credit. This is a mock: no card is charged, and the balance changes immediately. Repeating a request with the same `Idempotency-Key` and amount returns the original result without adding credit again.',
      headers: topUpHeaders,
      body: topUpInput,
      response: { 200: balanceOutput, ...errorResponses(401, 403, 409, 415, 422) },
    },
    handler: async (request) =>
      billing.topUp(request.context, {
        ...request.body,
        idempotencyKey: request.headers['idempotency-key'],
      }),
  });

  app.route({
    method: 'GET',
    url: '/api/billing/ledger',
    config: reads(),
    schema: {
      operationId: 'listLedger',
      tags,
      summary: 'List ledger entries',
      description: 'Lists top-ups, grants, charges and corrections, newest first.',
      querystring: pageInput,
      response: { 200: ledgerOutput, ...errorResponses(401, 422) },
    },
    handler: async (request) => billing.ledger(request.context, request.query),
  });

  app.route({
    method: 'GET',
    url: '/api/billing/ledger.csv',
    config: reads({ rate: 'heavy' }),
    exposeHeadRoute: false,
    schema: {
      operationId: 'exportLedger',
      tags,
      summary: 'Export the ledger as CSV',
      description:
        'Exports all ledger entries, newest first, with the same fields as the list and a header line. If reading fails, the response ends early, without the final chunk.',
      querystring: ledgerExportInput,
      response: { 200: csv('Ledger entries.'), ...errorResponses(401, 422) },
    },
    handler: async (request, reply) =>
      sendCsv(reply, 'ledger.csv', await billing.ledgerCsv(request.context, request.query)),
  });

  app.route({
    method: 'GET',
    url: '/api/usage',
    config: reads(),
    schema: {
      operationId: 'listUsage',
      tags,
      summary: 'List usage',
      description:
        'Lists usage events, one per forwarded call, newest first. Prompts and responses are never stored.',
      querystring: pageInput,
      response: { 200: usageOutput, ...errorResponses(401, 422) },
    },
    handler: async (request) => billing.usage(request.context, request.query),
  });

  app.route({
    method: 'GET',
    url: '/api/usage.csv',
    config: reads({ rate: 'heavy' }),
    // It would read everything and send nothing.
    exposeHeadRoute: false,
    schema: {
      operationId: 'exportUsage',
      tags,
      summary: 'Export usage as CSV',
      description:
        'Exports all usage events that match the filter, newest first, with the same fields as the usage list and a header line. Values that a spreadsheet would run as a formula are prefixed with an apostrophe. If reading fails, the response ends early, without the final chunk.',
      querystring: usageFilterInput,
      response: { 200: csv('Usage events.'), ...errorResponses(401, 422) },
    },
    handler: async (request, reply) =>
      sendCsv(reply, 'usage.csv', await billing.usageCsv(request.context, request.query)),
  });

  app.route({
    method: 'GET',
    url: '/api/usage/:id',
    config: reads(),
    schema: {
      operationId: 'getUsage',
      tags,
      summary: 'Get a usage event',
      description: 'Returns a call by its `x-request-id`, with the prices at that time and its charge.',
      params: usageParams,
      response: { 200: usageReceiptOutput, ...errorResponses(401, 404) },
    },
    handler: async (request) => billing.usageReceipt(request.context, request.params.id),
  });

  app.route({
    method: 'GET',
    url: '/api/plans',
    config: reads({ auth: 'none' }),
    schema: {
      operationId: 'listPlans',
      tags,
      summary: 'List plans',
      description: 'Lists all plans with their prices, included credits and limits.',
      security: [],
      response: { 200: plansOutput, ...errorResponses() },
    },
    handler: async (request) => billing.plans(request.context),
  });

  app.route({
    method: 'GET',
    url: '/api/models',
    config: reads({ auth: 'none' }),
    schema: {
      operationId: 'listModels',
      tags,
      summary: 'List models',
      description: 'Lists all public models with their prices.',
      security: [],
      response: { 200: modelsOutput, ...errorResponses() },
    },
    handler: async (request) => billing.models(request.context),
  });
}
