import { timingSafeEqual } from 'node:crypto';
import { sha256 } from '../lib/crypto.js';
import { keysUnavailable, type ProxyError, unauthorised } from './answers.js';
import type { KeyCheck, VirtualKeys } from './virtual-keys.js';

const BEARER = /^Bearer +(\S+)$/i;

/** The token of an `Authorization` header. */
export const bearerOf = (authorization: string | undefined): string | undefined =>
  BEARER.exec(authorization ?? '')?.[1];

/** Who may do what, by the `Authorization` header of a request. */
export interface Access {
  isMaster(authorization: string | undefined): boolean;
  /**
   * Why a request is refused that needs a virtual key (`key`, which the master key is too) or the master key; undefined
   * if it isn't. A key in memory is known in the same turn. Never rejects.
   */
  refusal(
    needs: 'key' | 'master',
    authorization: string | undefined,
  ): ProxyError | undefined | Promise<ProxyError | undefined>;
}

const noKey = unauthorised('Authentication Error, no API key passed in.');
const masterOnly = unauthorised('Authentication Error, only the master key may do this.');
const unknownKey = unauthorised('Authentication Error, invalid proxy server token passed.');

const refusalOf = (check: KeyCheck): ProxyError | undefined => {
  if (check === 'known') return undefined;
  return check === 'unavailable' ? keysUnavailable : unknownKey;
};

/** Recognises the master key by its hash, in constant time. */
export function createAccess(keys: VirtualKeys, masterKey: string): Access {
  const expected = sha256(masterKey);
  return {
    isMaster(authorization) {
      const key = bearerOf(authorization);
      return key !== undefined && timingSafeEqual(sha256(key), expected);
    },
    refusal(needs, authorization) {
      const key = bearerOf(authorization);
      const hash = key === undefined ? undefined : sha256(key);
      if (hash && timingSafeEqual(hash, expected)) return undefined;
      if (needs === 'master') return masterOnly;
      if (key === undefined) return noKey;
      const check = keys.check(key, hash);
      return typeof check === 'string' ? refusalOf(check) : check.then(refusalOf);
    },
  };
}
