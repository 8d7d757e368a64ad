import { Field, ID, ObjectType } from 'type-graphql';
import {
  createdKeyOutput,
  keyDayOutput,
  keyGuardOutput,
  keyOutput,
} from '../../services/keys/keys.outputs.js';
import { connectionOf, pageOf } from '../connections.js';
import { enumOf } from '../enum-of.js';
import { outputFields } from '../zod-fields.js';

const ApiKeyStatus = enumOf('ApiKeyStatus', 'API key status.', keyOutput.shape.status, {
  active: 'The key can be used.',
  disabled: 'Calls to `/v1` are rejected with `invalid_api_key`.',
});

export const ApiKeyGuardAction = enumOf(
  'ApiKeyGuardAction',
  'What the guard of an API key does.',
  keyGuardOutput.shape.action,
  {
    disable: 'Calls to `/v1` are rejected with `key_guard_reached`.',
    slow: "The key gets a tenth of the plan's requests per minute.",
    fallback_model: 'Calls run on another model.',
  },
);

const ApiKeyGuardStatus = enumOf(
  'ApiKeyGuardStatus',
  'State of the guard of an API key in the current UTC month.',
  keyOutput.shape.guard_status,
  {
    off: 'There is no guard, or no monthly limit.',
    armed: 'The guard acts when its percentage is reached.',
    acting: 'The guard has acted.',
    undone: 'The guard has acted and was undone. It is off until the end of the month.',
  },
);

@ObjectType({ description: keyGuardOutput.description })
export class ApiKeyGuard extends outputFields(keyGuardOutput, { action: ApiKeyGuardAction }) {}

@ObjectType({ description: keyOutput.description })
export class ApiKey extends outputFields(keyOutput, {
  status: ApiKeyStatus,
  guard: ApiKeyGuard,
  guardStatus: ApiKeyGuardStatus,
}) {}

@ObjectType({ description: pageOf('API keys') })
export class ApiKeyConnection extends connectionOf(ApiKey, 'API keys') {}

@ObjectType({ description: keyDayOutput.description })
export class ApiKeyUsageDay extends outputFields(keyDayOutput) {}

@ObjectType({ description: createdKeyOutput.description })
export class CreateApiKeyPayload extends outputFields(createdKeyOutput, { apiKey: ApiKey }) {}

@ObjectType()
abstract class ApiKeyPayload {
  @Field(() => ApiKey, { description: 'The updated API key.' })
  apiKey!: ApiKey;
}

@ObjectType({ description: 'The renamed API key.' })
export class RenameApiKeyPayload extends ApiKeyPayload {}

@ObjectType({ description: 'The API key with its new limits.' })
export class SetApiKeyLimitsPayload extends ApiKeyPayload {}

@ObjectType({ description: 'The API key with its new guard.' })
export class SetApiKeyGuardPayload extends ApiKeyPayload {}

@ObjectType({ description: 'The API key whose guard was undone.' })
export class UndoApiKeyGuardPayload extends ApiKeyPayload {}

@ObjectType({ description: 'The enabled API key.' })
export class EnableApiKeyPayload extends ApiKeyPayload {}

@ObjectType({ description: 'The disabled API key.' })
export class DisableApiKeyPayload extends ApiKeyPayload {}

@ObjectType({ description: 'The result of a deletion.' })
export class DeleteApiKeyPayload {
  @Field(() => ID, { description: 'ID of the deleted API key.' })
  deletedApiKeyId!: string;
}
