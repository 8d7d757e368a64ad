import { Field, InputType, Int } from 'type-graphql';
import type { z } from 'zod';
import { topUpOnceInput } from '../../services/billing/billing.inputs.js';
import type { Camel } from '../case.js';
import { fieldDocs } from '../docs.js';

const doc = fieldDocs(topUpOnceInput);

@InputType({ description: 'A top-up.' })
export class TopUpInput implements Camel<{ amount_usd: number; idempotency_key?: string | undefined }> {
  @Field(() => Int, { description: `${doc.amountUsd} One of 10, 25, 50, 100, 500.` })
  amountUsd!: z.input<typeof topUpOnceInput>['amount_usd'];

  @Field({ nullable: true, description: doc.idempotencyKey })
  idempotencyKey?: string;
}
