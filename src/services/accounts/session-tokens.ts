import { createSecretKey, type KeyObject } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import type { Clock } from '../../lib/clock.js';
import { deriveKey } from '../../lib/crypto.js';

const ISSUER = 'inference-gateway';
const AUDIENCE = 'inference-gateway/api';
/** Explicit typing (RFC 8725): a token made for another purpose is never accepted as a session. */
const TYPE = 'session+jwt';
/** A session ends this long after its log-in, even if it was renewed. */
export const ABSOLUTE_LIFETIME_SECONDS = 12 * 3600;
/** Allowed clock difference between two machines. */
const CLOCK_SKEW_SECONDS = 60;

const seconds = z.int().nonnegative();
const claimsSchema = z.object({
  sub: z.uuid(),
  sid: z.uuid(),
  tv: z.int().nonnegative(),
  iat: seconds,
  exp: seconds,
  orig_iat: seconds,
});

export interface SessionClaims {
  accountId: string;
  sessionId: string;
  tokenVersion: number;
  /** Time of the log-in, seconds since the epoch. */
  startedAt: number;
}

export interface VerifiedClaims extends SessionClaims {
  /** End of the token, seconds since the epoch. */
  expiresAt: number;
}

export interface SessionTokens {
  /** Signs a token that is valid for the configured lifetime, at most until the session's absolute end. */
  sign(claims: SessionClaims): Promise<{ token: string; maxAgeSeconds: number }>;
  /** The claims of a valid token; undefined for any other. */
  verify(token: string): Promise<VerifiedClaims | undefined>;
}

export interface SessionTokenOptions {
  secret: string;
  /** Still accepted while the secret is rotated. */
  previousSecret?: string | undefined;
  lifetimeSeconds: number;
  clock: Clock;
}

/** Session tokens: JWT, HS256, under a key derived for this purpose alone. */
export function createSessionTokens(options: SessionTokenOptions): SessionTokens {
  const keys = [options.secret, options.previousSecret]
    .filter((secret) => secret !== undefined)
    .map((secret) => createSecretKey(deriveKey(secret, 'session')));
  const nowSeconds = () => Math.floor(options.clock.now() / 1000);

  const payloadOf = async (token: string, key: KeyObject): Promise<unknown> => {
    const { payload } = await jwtVerify(token, key, {
      algorithms: ['HS256'],
      issuer: ISSUER,
      audience: AUDIENCE,
      typ: TYPE,
      requiredClaims: ['exp', 'iat', 'sub', 'sid', 'tv', 'orig_iat'],
      currentDate: new Date(options.clock.now()),
    });
    return payload;
  };

  return {
    async sign({ accountId, sessionId, tokenVersion, startedAt }) {
      const iat = nowSeconds();
      const exp = Math.min(iat + Math.floor(options.lifetimeSeconds), startedAt + ABSOLUTE_LIFETIME_SECONDS);
      const token = await new SignJWT({ sid: sessionId, tv: tokenVersion, orig_iat: startedAt })
        .setProtectedHeader({ alg: 'HS256', typ: TYPE })
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setSubject(accountId)
        .setIssuedAt(iat)
        .setExpirationTime(exp)
        .sign(keys[0]!);
      return { token, maxAgeSeconds: Math.max(0, exp - iat) };
    },
    async verify(token) {
      for (const key of keys) {
        try {
          return checkedClaims(await payloadOf(token, key), nowSeconds());
        } catch (error) {
          if (!(error instanceof errors.JOSEError)) throw error;
          if (!(error instanceof errors.JWSSignatureVerificationFailed)) return undefined;
        }
      }
      return undefined;
    },
  };
}

/**
 * Checks that jose doesn't make: types of our claims, an issue time in the future, a lifetime beyond the absolute
 * one.
 */
function checkedClaims(payload: unknown, nowSeconds: number): VerifiedClaims | undefined {
  const parsed = claimsSchema.safeParse(payload);
  if (!parsed.success) return undefined;
  const { sub, sid, tv, iat, exp, orig_iat } = parsed.data;
  if (iat > nowSeconds + CLOCK_SKEW_SECONDS || orig_iat > iat) return undefined;
  if (exp > orig_iat + ABSOLUTE_LIFETIME_SECONDS) return undefined;
  return { accountId: sub, sessionId: sid, tokenVersion: tv, startedAt: orig_iat, expiresAt: exp };
}
