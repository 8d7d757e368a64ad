import { Readable } from 'node:stream';
import { z } from 'zod';
import { pageInput, topUpHeaders, topUpInput, usageFilterInput } from '../services/billing/billing.inputs.js';
import {
  balanceOutput,
  ledgerOutput,
  modelsOutput,
  plansOutput,
  usageOutput,
} from '../services/billing/billing.outputs.js';
import type { Services } from '../services.js';
import { errorResponses } from './error-responses.js';
import type { RestApp } from './rest-app.js';
import { reads, writes } from './route-rules.js';

const tags = ['Billing'];

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
      summary: 'Show my balance',
      description: 'Credit balance and plan of the account.',
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
        'A mock: no card is charged and the balance changes at once. A repeat with the same `Idempotency-Key` and amount gets the balance of the first time and moves nothing.',
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
      summary: 'List movements of money',
      description: 'Every top-up, grant and charge, newest first.',
      querystring: pageInput,
      response: { 200: ledgerOutput, ...errorResponses(401, 422) },
    },
    handler: async (request) => billing.ledger(request.context, request.query),
  });

  app.route({
    method: 'GET',
    url: '/api/usage',
    config: reads(),
    schema: {
      operationId: 'listUsage',
      tags,
      summary: 'List usage',
      description: 'One per forwarded call, newest first. Never a prompt or a response.',
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
        'Every event of the usage list that the filter leaves, with the same fields, newest first, the first line their names. A text that a spreadsheet would run as a formula gets an apostrophe in front. Ends early, without the last chunk, when reading fails.',
      querystring: usageFilterInput,
      response: {
        200: {
          description: 'Usage events.',
          content: { 'text/csv': { schema: z.string().describe('Lines of CSV (RFC 4180).') } },
        },
        ...errorResponses(401, 422),
      },
    },
    handler: async (request, reply) => {
      const lines = await billing.usageCsv(request.context, request.query);
      reply.header('content-disposition', 'attachment; filename="usage.csv"').type('text/csv; charset=utf-8');
      return reply.send(Readable.from(lines) as never);
    },
  });

  app.route({
    method: 'GET',
    url: '/api/plans',
    config: reads({ auth: 'none' }),
    schema: {
      operationId: 'listPlans',
      tags,
      summary: 'List plans',
      description: 'What each plan costs, includes and allows.',
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
      description: 'Every public model with its prices.',
      security: [],
      response: { 200: modelsOutput, ...errorResponses() },
    },
    handler: async (request) => billing.models(request.context),
  });
}
