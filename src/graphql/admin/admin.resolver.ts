import { z } from 'zod';
import { uuid } from '../../lib/output-fields.js';
import { adjustCreditInput, listActionsInput } from '../../services/admin/admin.inputs.js';
import {
  actionChangeOutput,
  actionOutput,
  adjustmentOutput,
  jobOutput,
  routedDeploymentOutput,
  routedModelOutput,
  warningOutput,
} from '../../services/admin/admin.outputs.js';
import { toGraphql, toGraphqlAs } from '../case.js';
import { listCost } from '../connections.js';
import { enumOf } from '../enum-of.js';
import { mutation, query } from '../fields.js';
import { checked } from '../input.js';
import { Decimal } from '../scalars.js';
import { objectType } from '../zod-fields.js';

enumOf('AdminActionSource', 'Where an administrator acted.', actionOutput.shape.source, {
  session: 'Signed in.',
  command_line: 'On the command line of the server.',
});

enumOf(
  'RoutedDeploymentStatus',
  'Whether failures have parked a deployment.',
  routedDeploymentOutput.shape.status.unwrap(),
  { serving: 'It is not parked.', parked: 'It takes no calls until its cooldown is over.' },
);

enumOf('TakesCalls', 'Whether a deployment takes calls.', routedDeploymentOutput.shape.takes_calls.unwrap(), {
  yes: 'It takes its share.',
  if_no_other_can: 'Only while no other deployment of the model can.',
  no: 'It takes none.',
});

objectType('AdminActionChange', actionChangeOutput);
const AdminAction = objectType('AdminAction', actionOutput);
const ScheduledJob = objectType('ScheduledJob', jobOutput);
objectType('RoutedDeployment', routedDeploymentOutput);
const RoutedModel = objectType('RoutedModel', routedModelOutput);
const InstallationWarning = objectType('InstallationWarning', warningOutput);
objectType('CreditAdjustment', adjustmentOutput);

/** Administration of the installation. */
export const adminResolvers = [
  query('adminActions', 'admin', [AdminAction], {
    description: 'The audit log of administrators, newest first. Requires an administrator.',
    complexity: listCost,
    args: listActionsInput,
    run: ({ services, service }, args) =>
      toGraphql(services.admin.actions(service, checked(listActionsInput, args))),
  }),
  query('scheduledJobs', 'admin', [ScheduledJob], {
    description: 'Scheduled jobs with their last and next runs. Requires an administrator.',
    run: ({ services, service }) => toGraphql(services.admin.jobs(service)),
  }),
  query('routing', 'admin', [RoutedModel], {
    description: 'Where calls go, by model. Requires an administrator.',
    run: ({ services, service }) => toGraphql(services.admin.routing(service)),
  }),
  query('installationWarnings', 'admin', [InstallationWarning], {
    description: 'What an administrator should fix. Requires an administrator.',
    run: ({ services, service }) => toGraphql(services.admin.warnings(service)),
  }),
  mutation('adjustCredit', 'admin', {
    description:
      'Adjusts the balance of an account by a ledger entry with a reason. Requires an administrator.',
    input: z
      .object({ id: uuid('Account ID.') })
      .extend(adjustCreditInput.shape)
      .describe('An account and the correction of its balance.'),
    inputTypes: { amountUsd: Decimal },
    argument: 'Account, amount and reason.',
    payload: z
      .object({ adjustment: adjustmentOutput.describe('The adjustment.') })
      .describe('The adjustment of a balance.'),
    run: async ({ services, service }, { id, ...given }) => {
      const input = checked(adjustCreditInput, given);
      return toGraphqlAs('adjustment', services.admin.adjustCredit(service, id, input));
    },
  }),
];
