import { ArgsType, InputType } from 'type-graphql';
import { z } from 'zod';
import { uuid } from '../../lib/output-fields.js';
import { createKeyInput, keyDaysInput, updateKeyInput } from '../../services/keys/keys.inputs.js';
import { Decimal } from '../scalars.js';
import { inputFields } from '../zod-fields.js';

const keyId = z.object({ id: uuid('API key ID.') });

@ArgsType()
export class ApiKeyArgs extends inputFields(keyId) {}

@ArgsType()
export class UsageByDayArgs extends inputFields(keyDaysInput) {}

@InputType({ description: 'A new API key.' })
export class CreateApiKeyInput extends inputFields(createKeyInput) {}

@InputType({ description: 'An API key and its new name.' })
export class RenameApiKeyInput extends inputFields(keyId.extend(createKeyInput.shape)) {}

const { monthly_limit_usd, daily_limit_usd } = updateKeyInput.shape;

@InputType({
  description: 'Spending limits of an API key. Omitted limits keep their value; null removes a limit.',
})
export class SetApiKeyLimitsInput extends inputFields(keyId.extend({ monthly_limit_usd, daily_limit_usd }), {
  monthlyLimitUsd: Decimal,
  dailyLimitUsd: Decimal,
}) {}

@InputType({ description: 'The API key to enable.' })
export class EnableApiKeyInput extends inputFields(keyId) {}

@InputType({ description: 'The API key to disable.' })
export class DisableApiKeyInput extends inputFields(keyId) {}

@InputType({ description: 'The API key to delete.' })
export class DeleteApiKeyInput extends inputFields(keyId) {}
