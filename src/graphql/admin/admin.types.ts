import { ArgsType, Field, InputType, ObjectType } from 'type-graphql';
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
} from '../../services/admin/admin.outputs.js';
import { enumOf } from '../enum-of.js';
import { Decimal } from '../scalars.js';
import { inputFields, outputFields } from '../zod-fields.js';

const Source = enumOf('AdminActionSource', 'Where an administrator acted.', actionOutput.shape.source, {
  session: 'Signed in.',
  command_line: 'On the command line of the server.',
});

const DeploymentStatus = enumOf(
  'RoutedDeploymentStatus',
  'Whether failures have parked a deployment.',
  routedDeploymentOutput.shape.status.unwrap(),
  { serving: 'It is not parked.', parked: 'It takes no calls until its cooldown is over.' },
);

const TakesCalls = enumOf(
  'TakesCalls',
  'Whether a deployment takes calls.',
  routedDeploymentOutput.shape.takes_calls.unwrap(),
  {
    yes: 'It takes its share.',
    if_no_other_can: 'Only while no other deployment of the model can.',
    no: 'It takes none.',
  },
);

@ObjectType({ description: actionChangeOutput.description })
export class AdminActionChange extends outputFields(actionChangeOutput) {}

@ObjectType({ description: actionOutput.description })
export class AdminAction extends outputFields(actionOutput, {
  source: Source,
  changes: [AdminActionChange],
}) {}

@ObjectType({ description: jobOutput.description })
export class ScheduledJob extends outputFields(jobOutput) {}

@ObjectType({ description: routedDeploymentOutput.description })
export class RoutedDeployment extends outputFields(routedDeploymentOutput, {
  status: DeploymentStatus,
  takesCalls: TakesCalls,
}) {}

@ObjectType({ description: routedModelOutput.description })
export class RoutedModel extends outputFields(routedModelOutput, { deployments: [RoutedDeployment] }) {}

@ArgsType()
export class AdminActionsArgs extends inputFields(listActionsInput) {}

@InputType({ description: 'An account and the correction of its balance.' })
export class AdjustCreditInput extends inputFields(
  z.object({ id: uuid('Account ID.') }).extend(adjustCreditInput.shape),
  { amountUsd: Decimal },
) {}

@ObjectType({ description: adjustmentOutput.description })
export class CreditAdjustment extends outputFields(adjustmentOutput) {}

@ObjectType({ description: 'The adjustment of a balance.' })
export class AdjustCreditPayload {
  @Field(() => CreditAdjustment, { description: 'The adjustment.' })
  adjustment!: CreditAdjustment;
}
