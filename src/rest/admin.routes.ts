import { z } from 'zod';
import { AppError } from '../errors.js';
import { listUsersInput, updateUserInput } from '../services/accounts/accounts.inputs.js';
import { userOutput, usersOutput } from '../services/accounts/accounts.outputs.js';
import {
  type AdjustCreditInput,
  adjustCreditHeaders,
  adjustCreditInput,
  listActionsInput,
} from '../services/admin/admin.inputs.js';
import {
  actionsOutput,
  adjustmentOutput,
  jobsOutput,
  routingOutput,
  warningsOutput,
} from '../services/admin/admin.outputs.js';
import { restRoutes } from './operations.js';
import { reads, writes } from './route-rules.js';

/** Administration of accounts and of the installation. */
export const adminRoutes = restRoutes('Administration', (route, { accounts, admin }) => {
  route('GET /api/admin/users', reads({ auth: 'admin' }), {
    operationId: 'listUsers',
    summary: 'List accounts',
    description: "Lists all accounts that aren't deleted, newest first. Requires an administrator.",
    query: listUsersInput,
    returns: { 200: usersOutput },
    run: ({ context, query }) => accounts.listUsers(context, query),
  });

  route('GET /api/admin/users/:id', reads({ auth: 'admin' }), {
    operationId: 'getUser',
    summary: 'Get an account',
    description: "Returns an account that isn't deleted. Requires an administrator.",
    params: z.object({ id: z.string().describe('Account ID.') }),
    returns: { 200: userOutput },
    run: ({ context, params }) => accounts.getUser(context, params.id),
  });

  route('PATCH /api/admin/users/:id', writes({ auth: 'admin' }), {
    operationId: 'updateUser',
    summary: 'Update an account',
    description:
      "Updates plan, status or role. Send at least one field. Administrators can't disable or demote themselves. Requires an administrator.",
    params: z.object({ id: z.string().describe('Account ID.') }),
    body: updateUserInput,
    returns: { 200: userOutput },
    errors: [409],
    run: ({ context, params, body }) => accounts.updateUser(context, params.id, body),
  });

  route('POST /api/admin/users/:id/credit-adjustments', writes({ auth: 'admin' }), {
    operationId: 'adjustCredit',
    summary: 'Adjust the balance of an account',
    description:
      'Adds a ledger entry of kind `adjustment` with the reason as its description. The idempotency key can be sent as the header `Idempotency-Key` or as `idempotency_key`. Requires an administrator.',
    params: z.object({ id: z.string().describe('Account ID.') }),
    headers: adjustCreditHeaders,
    body: adjustCreditInput,
    returns: { 201: adjustmentOutput },
    errors: [409],
    run: ({ context, params, body, headers }) =>
      admin.adjustCredit(context, params.id, withKey(body, headers['idempotency-key'])),
  });

  route('GET /api/admin/actions', reads({ auth: 'admin' }), {
    operationId: 'listAdminActions',
    summary: 'List administrator actions',
    description: 'Returns the audit log of administrators, newest first. Requires an administrator.',
    query: listActionsInput,
    returns: { 200: actionsOutput },
    run: ({ context, query }) => admin.actions(context, query),
  });

  route('GET /api/admin/jobs', reads({ auth: 'admin' }), {
    operationId: 'listScheduledJobs',
    summary: 'List scheduled jobs',
    description: 'Returns scheduled jobs with their last and next runs. Requires an administrator.',
    returns: { 200: jobsOutput },
    run: ({ context }) => admin.jobs(context),
  });

  route('GET /api/admin/routing', reads({ auth: 'admin' }), {
    operationId: 'getRouting',
    summary: 'Get the routing',
    description:
      'Returns models, deployments and fallbacks, and whether the prices of the routing are those that calls are charged with. Behind `UPSTREAM_URL`, the model proxy there is asked. Requires an administrator.',
    returns: { 200: routingOutput },
    run: ({ context }) => admin.routing(context),
  });

  route('GET /api/admin/warnings', reads({ auth: 'admin' }), {
    operationId: 'listInstallationWarnings',
    summary: 'List warnings',
    description:
      'Returns what an administrator should fix, such as a Redis that evicts keys. Requires an administrator.',
    returns: { 200: warningsOutput },
    run: ({ context }) => admin.warnings(context),
  });
});

/**
 * An adjustment with the idempotency key of the header. @throws AppError `validation_error` when the body has a
 * different one
 */
function withKey(body: AdjustCreditInput, key: string | undefined): AdjustCreditInput {
  if (key === undefined) return body;
  if (body.idempotency_key !== undefined && body.idempotency_key !== key) {
    const message = 'must be the same as the Idempotency-Key header';
    throw new AppError('validation_error', { details: [{ field: 'idempotency_key', message }] });
  }
  return { ...body, idempotency_key: key };
}
