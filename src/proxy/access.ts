import { timingSafeEqual } from 'node:crypto';
import { sha256 } from '../lib/crypto.js';
import { type ProxyError, unauthorised } from '../router/answers.js';
import { bearerOf, keyRefusal } from '../router/key-check.js';
import type { VirtualKeys } from '../router/virtual-keys.js';

/** Who may do what, by the `Authorization` header of a request. */
export interface ProxyAccess {
  /**
   * Why a request is refused that needs a virtual key (`key`, which the master key is too) or the master key; undefined
   * if it isn't. A key in memory is known in the same turn. Never rejects.
   */
  refusal(
    needs: 'key' | 'master',
    authorization: string | undefined,
  ): ProxyError | undefined | Promise<ProxyError | undefined>;
}

const masterOnly = unauthorised('Authentication Error, only the master key may do this.');

/** Recognises the master key by its hash, in constant time. */
export function createAccess(keys: VirtualKeys, masterKey: string): ProxyAccess {
  const expected = sha256(masterKey);
  return {
    refusal(needs, authorization) {
      const key = bearerOf(authorization);
      const hash = key === undefined ? undefined : sha256(key);
      if (hash && timingSafeEqual(hash, expected)) return undefined;
      return needs === 'master' ? masterOnly : keyRefusal(keys, key, hash);
    },
  };
}
