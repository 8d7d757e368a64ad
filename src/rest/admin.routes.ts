import { z } from 'zod';
import { listUsersInput, updateUserInput } from '../services/accounts/accounts.inputs.js';
import { userOutput, usersOutput } from '../services/accounts/accounts.outputs.js';
import type { Services } from '../services.js';
import { errorResponses } from './error-responses.js';
import type { RestApp } from './rest-app.js';
import { reads, writes } from './route-rules.js';

const tags = ['Administration'];

/** What administrators do with accounts. */
export function adminRoutes(app: RestApp, services: Services): void {
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
      response: { 200: userOutput, ...errorResponses(401, 403, 404, 415, 422) },
    },
    handler: async (request) =>
      services.accounts.updateUser(request.context, request.params.id, request.body),
  });
}
