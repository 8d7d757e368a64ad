import { ArgsType, InputType } from 'type-graphql';
import { z } from 'zod';
import { uuid } from '../../lib/output-fields.js';
import { createKeyInput, keyDaysInput, updateKeyInput } from '../../services/keys/keys.inputs.js';
import { Decimal } from '../scalars.js';
import { inputFields } from '../zod-fields.js';

const keyId = z.object({ id: uuid('Id of the key.') });

@ArgsType()
export class ApiKeyArgs extends inputFields(keyId) {}

@ArgsType()
export class UsageByDayArgs extends inputFields(keyDaysInput) {}

@InputType({ description: 'A new API key.' })
export class CreateApiKeyInput extends inputFields(createKeyInput) {}

@InputType({ description: 'A new label of an API key.' })
export class RenameApiKeyInput extends inputFields(keyId.extend(createKeyInput.shape)) {}

const { monthly_limit_usd, daily_limit_usd } = updateKeyInput.shape;

@InputType({ description: 'Limits of an API key. One that is left out stays; null clears.' })
export class SetApiKeyLimitsInput extends inputFields(keyId.extend({ monthly_limit_usd, daily_limit_usd }), {
  monthlyLimitUsd: Decimal,
  dailyLimitUsd: Decimal,
}) {}

@InputType({ description: 'An API key that is to be taken again.' })
export class EnableApiKeyInput extends inputFields(keyId) {}

@InputType({ description: 'An API key that is to be refused.' })
export class DisableApiKeyInput extends inputFields(keyId) {}

@InputType({ description: 'An API key that is to go.' })
export class DeleteApiKeyInput extends inputFields(keyId) {}
