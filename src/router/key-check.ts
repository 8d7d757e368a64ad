import { keysUnavailable, type ProxyError, unauthorised } from './answers.js';
import type { KeyCheck, VirtualKeys } from './virtual-keys.js';

const BEARER = /^Bearer +(\S+)$/i;

/** The token of an `Authorization` header. */
export const bearerOf = (authorization: string | undefined): string | undefined =>
  BEARER.exec(authorization ?? '')?.[1];

const noKey = unauthorised('Authentication Error, no API key passed in.');
const unknownKey = unauthorised('Authentication Error, invalid proxy server token passed.');

const refusalOf = (check: KeyCheck): ProxyError | undefined => {
  if (check === 'known') return undefined;
  return check === 'unavailable' ? keysUnavailable : unknownKey;
};

/**
 * Why a call with this token is refused; undefined if it is accepted. A cached key is checked synchronously. Never rejects.
 * @param hash SHA-256 of the token.
 */
export function keyRefusal(
  keys: Pick<VirtualKeys, 'check'>,
  key: string | undefined,
  hash?: Buffer,
): ProxyError | undefined | Promise<ProxyError | undefined> {
  if (key === undefined) return noKey;
  const check = keys.check(key, hash);
  return typeof check === 'string' ? refusalOf(check) : check.then(refusalOf);
}
