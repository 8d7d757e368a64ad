import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import {
  createdKeyOutput,
  type KeyDayOutput,
  type KeyOutput,
  keyDayOutput,
  keyOutput,
} from '../../services/keys/keys.outputs.js';
import type { Camel } from '../case.js';
import { connectionOf, pageOf } from '../connections.js';
import { fieldDocs } from '../docs.js';
import { DateTime, Decimal } from '../scalars.js';

export const ApiKeyStatus = { ACTIVE: 'active', DISABLED: 'disabled' } as const;
registerEnumType(ApiKeyStatus, {
  name: 'ApiKeyStatus',
  description: 'Whether an API key is taken.',
  valuesConfig: {
    ACTIVE: { description: 'It is taken.' },
    DISABLED: { description: 'It is refused on `/v1` with `invalid_api_key`.' },
  },
});

const doc = fieldDocs(keyOutput);

@ObjectType({ description: keyOutput.description })
export class ApiKey implements Camel<KeyOutput> {
  @Field(() => ID, { description: doc.id })
  id!: string;

  @Field({ description: doc.name })
  name!: string;

  @Field({ description: doc.keyPrefix })
  keyPrefix!: string;

  @Field({ description: doc.lastFour })
  lastFour!: string;

  @Field(() => ApiKeyStatus, { description: doc.status })
  status!: 'active' | 'disabled';

  @Field(() => Decimal, { nullable: true, description: doc.monthlyLimitUsd })
  monthlyLimitUsd!: string | null;

  @Field(() => Decimal, { nullable: true, description: doc.dailyLimitUsd })
  dailyLimitUsd!: string | null;

  @Field(() => Decimal, { description: doc.spendTodayUsd })
  spendTodayUsd!: string;

  @Field(() => Decimal, { description: doc.spendMonthUsd })
  spendMonthUsd!: string;

  @Field({ description: doc.hasUpstream })
  hasUpstream!: boolean;

  @Field(() => DateTime, { nullable: true, description: doc.lastUsedAt })
  lastUsedAt!: string | null;

  @Field(() => DateTime, { description: doc.createdAt })
  createdAt!: string;
}

@ObjectType({ description: pageOf('API keys') })
export class ApiKeyConnection extends connectionOf(ApiKey, 'API keys') {}

const dayDoc = fieldDocs(keyDayOutput);

@ObjectType({ description: keyDayOutput.description })
export class ApiKeyUsageDay implements Camel<KeyDayOutput> {
  @Field({ description: dayDoc.date })
  date!: string;

  @Field(() => Decimal, { description: dayDoc.costUsd })
  costUsd!: string;
}

const createdDoc = fieldDocs(createdKeyOutput);

@ObjectType({ description: createdKeyOutput.description })
export class CreateApiKeyPayload {
  @Field({ description: createdDoc.key })
  key!: string;

  @Field(() => ApiKey, { description: createdDoc.apiKey })
  apiKey!: ApiKey;
}

@ObjectType()
abstract class ApiKeyPayload {
  @Field(() => ApiKey, { description: 'The key as it is now.' })
  apiKey!: ApiKey;
}

@ObjectType({ description: 'An API key with its new label.' })
export class RenameApiKeyPayload extends ApiKeyPayload {}

@ObjectType({ description: 'An API key with its new limits.' })
export class SetApiKeyLimitsPayload extends ApiKeyPayload {}

@ObjectType({ description: 'An API key that is taken again.' })
export class EnableApiKeyPayload extends ApiKeyPayload {}

@ObjectType({ description: 'An API key that is refused.' })
export class DisableApiKeyPayload extends ApiKeyPayload {}

@ObjectType({ description: 'What was deleted.' })
export class DeleteApiKeyPayload {
  @Field(() => ID, { description: 'Id of the key that is gone.' })
  deletedApiKeyId!: string;
}
