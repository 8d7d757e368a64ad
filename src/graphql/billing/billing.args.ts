import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import {
  topUpOnceInput,
  type UsageFilterInput as UsageFilter,
  usageFilterInput,
} from '../../services/billing/billing.inputs.js';
import type { Camel } from '../case.js';
import { PageArgs } from '../connections.js';
import { fieldDocs } from '../docs.js';
import { UsageStatus } from './billing.types.js';

const doc = fieldDocs(topUpOnceInput);

@InputType({ description: 'A top-up.' })
export class TopUpInput implements Camel<{ amount_usd: number; idempotency_key?: string | undefined }> {
  @Field(() => Int, { description: `${doc.amountUsd} One of 10, 25, 50, 100, 500.` })
  amountUsd!: number;

  @Field({ nullable: true, description: doc.idempotencyKey })
  idempotencyKey?: string;
}

const filterDoc = fieldDocs(usageFilterInput);

@InputType({ description: "Which usage events are meant; what isn't named doesn't narrow." })
export class UsageFilterInput implements Camel<UsageFilter> {
  @Field(() => ID, { nullable: true, description: filterDoc.keyId })
  keyId?: string | null;

  @Field(() => String, { nullable: true, description: filterDoc.model })
  model?: string | null;

  @Field(() => UsageStatus, { nullable: true, description: filterDoc.status })
  status?: 'success' | 'error' | null;

  @Field(() => Int, { nullable: true, description: filterDoc.windowDays })
  windowDays?: number | null;
}

@ArgsType()
export class UsageArgs extends PageArgs {
  @Field(() => UsageFilterInput, { nullable: true, description: 'Which events; all of them without.' })
  filter?: UsageFilterInput | null;
}
