import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { createKeyInput, updateKeyInput } from '../../services/keys/keys.inputs.js';
import { fieldDocs } from '../docs.js';
import { Decimal } from '../scalars.js';

const ID_OF_KEY = 'Id of the key.';
const create = fieldDocs(createKeyInput);
const update = fieldDocs(updateKeyInput);

@ArgsType()
export class ApiKeyArgs {
  @Field(() => ID, { description: ID_OF_KEY })
  id!: string;
}

@ArgsType()
export class UsageByDayArgs {
  @Field(() => Int, { defaultValue: 30, description: 'Days to tell, today included, 1 to 90.' })
  days!: number;
}

@InputType({ description: 'A new API key.' })
export class CreateApiKeyInput {
  @Field({ description: create.name })
  name!: string;
}

@InputType()
abstract class ApiKeyIdInput {
  @Field(() => ID, { description: ID_OF_KEY })
  id!: string;
}

@InputType({ description: 'A new label of an API key.' })
export class RenameApiKeyInput extends ApiKeyIdInput {
  @Field({ description: update.name })
  name!: string;
}

@InputType({ description: 'Limits of an API key. One that is left out stays; null clears.' })
export class SetApiKeyLimitsInput extends ApiKeyIdInput {
  @Field(() => Decimal, { nullable: true, description: update.monthlyLimitUsd })
  monthlyLimitUsd?: number | string | null;

  @Field(() => Decimal, { nullable: true, description: update.dailyLimitUsd })
  dailyLimitUsd?: number | string | null;
}

@InputType({ description: 'An API key that is to be taken again.' })
export class EnableApiKeyInput extends ApiKeyIdInput {}

@InputType({ description: 'An API key that is to be refused.' })
export class DisableApiKeyInput extends ApiKeyIdInput {}

@InputType({ description: 'An API key that is to go.' })
export class DeleteApiKeyInput extends ApiKeyIdInput {}
