import { ArgsType, Field, InputType, Int } from 'type-graphql';
import {
  ledgerMonthInput,
  topUpOnceInput,
  usageFilterInput,
  usageParams,
} from '../../services/billing/billing.inputs.js';
import { PageArgs } from '../connections.js';
import { inputFields } from '../zod-fields.js';
import { UsageStatus } from './billing.types.js';

@InputType({ description: 'A top-up.' })
export class TopUpInput extends inputFields(topUpOnceInput, { amountUsd: Int }) {}

@InputType({ description: 'Filter for usage events. Omitted fields match every event.' })
export class UsageFilterInput extends inputFields(usageFilterInput, { status: UsageStatus }) {}

@ArgsType()
export class UsageReceiptArgs extends inputFields(usageParams) {}

@ArgsType()
export class MonthArgs extends inputFields(ledgerMonthInput) {}

@ArgsType()
export class UsageArgs extends PageArgs {
  @Field(() => String, {
    nullable: true,
    description: 'Cursor of the entry before which the page ends. Use it instead of `after`.',
  })
  before?: string | null;

  @Field(() => UsageFilterInput, {
    nullable: true,
    description: 'Filter; without it, all events are returned.',
  })
  filter?: UsageFilterInput | null;
}
