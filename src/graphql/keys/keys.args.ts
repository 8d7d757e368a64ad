import { ArgsType, Field, InputType } from 'type-graphql';
import { z } from 'zod';
import { uuid } from '../../lib/output-fields.js';
import {
  createKeyInput,
  expectedKeyInput,
  keyDaysInput,
  keyGuardInput,
  keysSearchInput,
  updateKeyInput,
} from '../../services/keys/keys.inputs.js';
import { PageArgs } from '../connections.js';
import { enumOf } from '../enum-of.js';
import { Decimal } from '../scalars.js';
import { descriptionOf, inputFields } from '../zod-fields.js';
import { ApiKeyGuardAction } from './keys.types.js';

const keyId = z.object({ id: uuid('API key ID.') });

@ArgsType()
export class ApiKeyArgs extends inputFields(keyId) {}

@ArgsType()
export class UsageByDayArgs extends inputFields(keyDaysInput) {}

const { search, order_by } = keysSearchInput.shape;

const ApiKeyOrder = enumOf('ApiKeyOrder', 'Order of API keys.', order_by.unwrap(), {
  created: 'Newest first.',
  name: 'By name, A to Z.',
  spend: 'Highest spend of this month first.',
  used: 'Most recently used first.',
});

@ArgsType()
export class ApiKeysArgs extends PageArgs {
  @Field(() => String, { nullable: true, description: descriptionOf(search) })
  search?: string | null;

  @Field(() => ApiKeyOrder, { defaultValue: 'created', description: descriptionOf(order_by) })
  orderBy!: z.output<typeof order_by>;
}

@InputType({ description: 'A new API key.' })
export class CreateApiKeyInput extends inputFields(createKeyInput) {}

const { monthly_limit_usd, daily_limit_usd, guard, expected } = updateKeyInput.shape;

@InputType({ description: keyGuardInput.description })
export class ApiKeyGuardInput extends inputFields(keyGuardInput, { action: ApiKeyGuardAction }) {}

@InputType({ description: expectedKeyInput.description })
export class ExpectedApiKeyInput extends inputFields(expectedKeyInput, {
  monthlyLimitUsd: Decimal,
  dailyLimitUsd: Decimal,
  guard: ApiKeyGuardInput,
}) {}

@InputType({ description: 'An API key and its new name.' })
export class RenameApiKeyInput extends inputFields(keyId.extend({ ...createKeyInput.shape, expected }), {
  expected: ExpectedApiKeyInput,
}) {}

@InputType({
  description: 'Spending limits of an API key. Omitted limits keep their value; null removes a limit.',
})
export class SetApiKeyLimitsInput extends inputFields(
  keyId.extend({ monthly_limit_usd, daily_limit_usd, expected }),
  {
    monthlyLimitUsd: Decimal,
    dailyLimitUsd: Decimal,
    expected: ExpectedApiKeyInput,
  },
) {}

@InputType({ description: 'An API key and its guard. Null removes the guard.' })
export class SetApiKeyGuardInput extends inputFields(keyId.extend({ guard: guard.unwrap(), expected }), {
  guard: ApiKeyGuardInput,
  expected: ExpectedApiKeyInput,
}) {}

@InputType({ description: 'The API key whose guard to undo.' })
export class UndoApiKeyGuardInput extends inputFields(keyId) {}

@InputType({ description: 'The API key to enable.' })
export class EnableApiKeyInput extends inputFields(keyId) {}

@InputType({ description: 'The API key to disable.' })
export class DisableApiKeyInput extends inputFields(keyId) {}

@InputType({ description: 'The API key to delete.' })
export class DeleteApiKeyInput extends inputFields(keyId) {}
