import { Field, Float, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import {
  type RefusedCallOutput,
  type RefusedCallsOutput,
  refusedCallOutput,
  refusedCallsOutput,
} from '../../services/refusals/refusals.outputs.js';
import type { Camel } from '../case.js';
import { fieldDocs } from '../docs.js';
import { DateTime } from '../scalars.js';

export const RefusedKeyStatus = {
  ACTIVE: 'active',
  DISABLED: 'disabled',
  DELETED: 'deleted',
} as const satisfies Record<string, RefusedCallOutput['key_status']>;
registerEnumType(RefusedKeyStatus, {
  name: 'RefusedKeyStatus',
  description: 'What became of a key that refused calls presented.',
  valuesConfig: {
    ACTIVE: { description: 'It may call.' },
    DISABLED: { description: 'It is disabled.' },
    DELETED: { description: 'It was deleted.' },
  },
});

const reasonDoc = fieldDocs(refusedCallOutput);

@ObjectType({ description: refusedCallOutput.description })
export class RefusedCall implements Camel<RefusedCallOutput> {
  @Field(() => ID, { description: reasonDoc.keyId })
  keyId!: string;

  @Field(() => String, { nullable: true, description: reasonDoc.keyName })
  keyName!: string | null;

  @Field(() => RefusedKeyStatus, { description: reasonDoc.keyStatus })
  keyStatus!: 'active' | 'disabled' | 'deleted';

  @Field({ description: reasonDoc.code })
  code!: string;

  @Field(() => Int, { description: reasonDoc.httpStatus })
  httpStatus!: number;

  @Field(() => String, { nullable: true, description: reasonDoc.modelPublicName })
  modelPublicName!: string | null;

  @Field(() => Float, { description: reasonDoc.calls })
  calls!: number;

  @Field(() => DateTime, { description: reasonDoc.lastAt })
  lastAt!: string;

  @Field({ description: reasonDoc.remedy })
  remedy!: string;
}

const doc = fieldDocs(refusedCallsOutput);

/** Counts may exceed what GraphQL calls an Int. */
@ObjectType({ description: refusedCallsOutput.description })
export class RefusedCalls implements Camel<RefusedCallsOutput> {
  @Field(() => Int, { description: doc.windowDays })
  windowDays!: number;

  @Field(() => Float, { description: doc.totalCalls })
  totalCalls!: number;

  @Field(() => [RefusedCall], { description: doc.reasons })
  reasons!: RefusedCall[];
}
