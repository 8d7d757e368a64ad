import { type ErrorCode, errorTable } from '../../errors.js';

/** How long a rejected call can be looked up by its id. */
export const REFUSED_IDS_DAYS = 30;

const REMEDIES: Partial<Record<ErrorCode, string>> = {
  insufficient_credits: 'The balance was too low. Add credit.',
  daily_cap_exceeded: 'The key had spent its daily limit. Raise the limit, or wait for 00:00 UTC.',
  key_guard_reached:
    "The key's guard had stopped its calls for the rest of the month. Undo it on the key's page, or raise its percentage.",
  model_not_allowed:
    'The plan does not include the model, or no model has this name. Call a model that GET /v1/models lists, or ask for another plan.',
  rate_limit_exceeded:
    "The account made more calls per minute than the plan allows, the key's guard had slowed it down, or too many calls were rejected. Call less often, ask for another plan, undo the guard on the key's page, or fix the rejected calls.",
  upstream_unconfigured: 'The key is not connected to the models. Create another key and use that one.',
  endpoint_not_supported:
    'The address does not exist. Use POST /v1/chat/completions, POST /v1/embeddings, GET /v1/models or, where the operator has turned it on, POST /v1/responses.',
  invalid_body: 'The request body is not valid. The error message of the call names the field.',
  body_too_large: 'The request body is too large. Send less in one call.',
  unsupported_media_type: 'Send the body as JSON, without content encoding.',
};

const KEY_REMEDIES = {
  disabled: 'The key is disabled. Enable it, or call with another one.',
  deleted: 'The key was deleted. Call with another one.',
  active: 'The key was disabled then. It is enabled now: try again.',
};

/** What the owner of a key can do about refusals with this code. */
export function remedyFor(code: string, keyStatus: keyof typeof KEY_REMEDIES): string {
  if (code === 'invalid_api_key') return KEY_REMEDIES[keyStatus];
  const own = REMEDIES[code as ErrorCode];
  if (own) return own;
  return refusalStatus(code) >= 500
    ? 'The gateway could not take the call at that moment. Try again.'
    : 'The error message of the call says what to change.';
}

/** HTTP status of a code; 500 if this build doesn't know it. */
export const refusalStatus = (code: string): number =>
  Object.hasOwn(errorTable, code) ? errorTable[code as ErrorCode].status : 500;
