import { Field, ID, ObjectType } from 'type-graphql';
import { createdKeyOutput, keyDayOutput, keyOutput } from '../../services/keys/keys.outputs.js';
import { connectionOf, pageOf } from '../connections.js';
import { enumOf } from '../enum-of.js';
import { outputFields } from '../zod-fields.js';

const ApiKeyStatus = enumOf('ApiKeyStatus', 'API key status.', keyOutput.shape.status, {
  active: 'The key can be used.',
  disabled: 'Calls to `/v1` are rejected with `invalid_api_key`.',
});

@ObjectType({ description: keyOutput.description })
export class ApiKey extends outputFields(keyOutput, { status: ApiKeyStatus }) {}

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

@ObjectType({ description: 'The enabled API key.' })
export class EnableApiKeyPayload extends ApiKeyPayload {}

@ObjectType({ description: 'The disabled API key.' })
export class DisableApiKeyPayload extends ApiKeyPayload {}

@ObjectType({ description: 'The result of a deletion.' })
export class DeleteApiKeyPayload {
  @Field(() => ID, { description: 'ID of the deleted API key.' })
  deletedApiKeyId!: string;
}
