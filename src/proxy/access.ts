import { timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sha256 } from '../lib/crypto.js';
import { matchedRules } from '../lib/route-rules.js';
import { type ProxyError, unauthorised } from '../router/answers.js';
import { bearerOf, keyRefusal } from '../router/key-check.js';
import type { VirtualKeys } from '../router/virtual-keys.js';
import type { ProxyRouteRules } from './route-rules.js';
import { sendProxyError } from './send-error.js';

const masterOnly = unauthorised('Authentication Error, only the master key may do this.');

/**
 * A hook that checks the `Authorization` header against the rules of the matched route, before the body is read. The master key
 * is also accepted where a virtual key is needed, and recognised by its hash in constant time.
 */
export function requireAuth(keys: VirtualKeys, masterKey: string) {
  const expected = sha256(masterKey);
  /** Why a request is refused; undefined if it isn't. A virtual key in memory is found without a promise. Never rejects. */
  const refusalOf = (
    needs: 'key' | 'master',
    authorization: string | undefined,
  ): ProxyError | undefined | Promise<ProxyError | undefined> => {
    const key = bearerOf(authorization);
    const hash = key === undefined ? undefined : sha256(key);
    if (hash && timingSafeEqual(hash, expected)) return undefined;
    return needs === 'master' ? masterOnly : keyRefusal(keys, key, hash);
  };
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const auth = matchedRules<ProxyRouteRules>(request)?.auth ?? 'none';
    if (auth === 'none') {
      done();
      return;
    }
    const judge = (refusal: ProxyError | undefined): void => {
      if (refusal) sendProxyError(reply, refusal);
      else done();
    };
    const refusal = refusalOf(auth, request.headers.authorization);
    if (refusal instanceof Promise) void refusal.then(judge);
    else judge(refusal);
  };
}
