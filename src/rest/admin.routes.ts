import { z } from 'zod';
import { listUsersInput, updateUserInput } from '../services/accounts/accounts.inputs.js';
import { userOutput, usersOutput } from '../services/accounts/accounts.outputs.js';
import { adjustCreditInput, listActionsInput } from '../services/admin/admin.inputs.js';
import {
  actionsOutput,
  adjustmentOutput,
  jobsOutput,
  routingOutput,
} from '../services/admin/admin.outputs.js';
import type { Services } from '../services.js';
import { errorResponses } from './error-responses.js';
import type { RestApp } from './rest-app.js';
import { reads, writes } from './route-rules.js';

const tags = ['Administration'];

/** What administrators do with accounts and with the installation. */
export function adminRoutes(app: RestApp, services: Services): void {
  accountRoutes(app, services);
  installationRoutes(app, services);
}

function accountRoutes(app: RestApp, services: Services): void {
  app.route({
    method: 'GET',
    url: '/api/admin/users',
    config: reads({ auth: 'admin' }),
    schema: {
      operationId: 'listUsers',
      tags,
      summary: 'List accounts',
      description: "Lists all accounts that aren't deleted, newest first. Requires an administrator.",
      querystring: listUsersInput,
      response: { 200: usersOutput, ...errorResponses(401, 403, 422) },
    },
    handler: async (request) => services.accounts.listUsers(request.context, request.query),
  });
  app.route({
    method: 'GET',
    url: '/api/admin/users/:id',
    config: reads({ auth: 'admin' }),
    schema: {
      operationId: 'getUser',
      tags,
      summary: 'Get an account',
      description: "Returns an account that isn't deleted. Requires an administrator.",
      params: z.object({ id: z.string().describe('Account ID.') }),
      response: { 200: userOutput, ...errorResponses(401, 403, 404) },
    },
    handler: async (request) => services.accounts.getUser(request.context, request.params.id),
  });
  app.route({
    method: 'PATCH',
    url: '/api/admin/users/:id',
    config: writes({ auth: 'admin' }),
    schema: {
      operationId: 'updateUser',
      tags,
      summary: 'Update an account',
      description:
        "Updates plan, status or role. Send at least one field. Administrators can't disable or demote themselves. Requires an administrator.",
      params: z.object({ id: z.string().describe('Account ID.') }),
      body: updateUserInput,
      response: { 200: userOutput, ...errorResponses(401, 403, 404, 409, 415, 422) },
    },
    handler: async (request) =>
      services.accounts.updateUser(request.context, request.params.id, request.body),
  });
  app.route({
    method: 'POST',
    url: '/api/admin/users/:id/credit-adjustments',
    config: writes({ auth: 'admin' }),
    schema: {
      operationId: 'adjustCredit',
      tags,
      summary: 'Adjust the balance of an account',
      description:
        'Adds a ledger entry of kind `adjustment` with the reason as its description. Requires an administrator.',
      params: z.object({ id: z.string().describe('Account ID.') }),
      body: adjustCreditInput,
      response: { 201: adjustmentOutput, ...errorResponses(401, 403, 404, 409, 415, 422) },
    },
    handler: async (request, reply) => {
      reply.status(201);
      return services.admin.adjustCredit(request.context, request.params.id, request.body);
    },
  });
}

function installationRoutes(app: RestApp, { admin }: Services): void {
  app.route({
    method: 'GET',
    url: '/api/admin/actions',
    config: reads({ auth: 'admin' }),
    schema: {
      operationId: 'listAdminActions',
      tags,
      summary: 'List administrator actions',
      description: 'Returns the audit log of administrators, newest first. Requires an administrator.',
      querystring: listActionsInput,
      response: { 200: actionsOutput, ...errorResponses(401, 403, 422) },
    },
    handler: async (request) => admin.actions(request.context, request.query),
  });
  app.route({
    method: 'GET',
    url: '/api/admin/jobs',
    config: reads({ auth: 'admin' }),
    schema: {
      operationId: 'listScheduledJobs',
      tags,
      summary: 'List scheduled jobs',
      description: 'Returns scheduled jobs with their last and next runs. Requires an administrator.',
      response: { 200: jobsOutput, ...errorResponses(401, 403) },
    },
    handler: async (request) => admin.jobs(request.context),
  });
  app.route({
    method: 'GET',
    url: '/api/admin/routing',
    config: reads({ auth: 'admin' }),
    schema: {
      operationId: 'getRouting',
      tags,
      summary: 'Get the routing',
      description:
        'Returns models, deployments and fallbacks as the model proxy sees them, and whether its prices are those that calls are charged with. With several proxies, one of them answers. Requires an administrator.',
      response: { 200: routingOutput, ...errorResponses(401, 403) },
    },
    handler: async (request) => admin.routing(request.context),
  });
}
