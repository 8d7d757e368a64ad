import { Field, ID, ObjectType } from 'type-graphql';
import { createdKeyOutput, keyDayOutput, keyOutput } from '../../services/keys/keys.outputs.js';
import { connectionOf, pageOf } from '../connections.js';
import { enumOf } from '../enum-of.js';
import { outputFields } from '../zod-fields.js';

const ApiKeyStatus = enumOf('ApiKeyStatus', 'Whether an API key is taken.', keyOutput.shape.status, {
  active: 'It is taken.',
  disabled: 'It is refused on `/v1` with `invalid_api_key`.',
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
