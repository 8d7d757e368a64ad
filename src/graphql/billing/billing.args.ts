import { ArgsType, Field, InputType, Int } from 'type-graphql';
import { topUpOnceInput, usageFilterInput } from '../../services/billing/billing.inputs.js';
import { PageArgs } from '../connections.js';
import { inputFields } from '../zod-fields.js';
import { UsageStatus } from './billing.types.js';

@InputType({ description: 'A top-up.' })
export class TopUpInput extends inputFields(topUpOnceInput, { amountUsd: Int }) {}

@InputType({ description: "Which usage events are meant; what isn't named doesn't narrow." })
export class UsageFilterInput extends inputFields(usageFilterInput, { status: UsageStatus }) {}

@ArgsType()
export class UsageArgs extends PageArgs {
  @Field(() => UsageFilterInput, { nullable: true, description: 'Which events; all of them without.' })
  filter?: UsageFilterInput | null;
}
