import { timingSafeEqual } from 'node:crypto';
import { sha256 } from '../lib/crypto.js';
import { credentialOf } from '../rest/credential.js';

/**
 * Whether an `Authorization` header carries the internal secret, told in a time that doesn't depend on where another differs.
 * Undefined without a secret.
 */
export function internalCheck(
  secret: string | undefined,
): ((authorization: string | undefined) => boolean) | undefined {
  if (secret === undefined) return undefined;
  const expected = sha256(secret);
  return (authorization) => {
    const { token = '' } = credentialOf(authorization, {}) ?? {};
    return timingSafeEqual(sha256(token), expected);
  };
}
