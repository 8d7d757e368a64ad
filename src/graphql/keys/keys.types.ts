import { keyDayOutput, keyGuardOutput, keyOutput } from '../../services/keys/keys.outputs.js';
import { connectionOf } from '../connections.js';
import { enumOf } from '../enum-of.js';
import { objectType } from '../zod-fields.js';

enumOf('ApiKeyStatus', 'API key status.', keyOutput.shape.status, {
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

enumOf(
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

objectType('ApiKeyGuard', keyGuardOutput);
export const ApiKey = objectType('ApiKey', keyOutput);
export const ApiKeyConnection = connectionOf(ApiKey, 'API keys');
export const ApiKeyUsageDay = objectType('ApiKeyUsageDay', keyDayOutput);
