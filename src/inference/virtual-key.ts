import type { Envelope } from '../lib/crypto.js';
import type { Logger } from '../lib/logger.js';
import type { CachedPayer } from './row-cache.js';

/** Excludes line ends, since one in a virtual key would begin another header. */
const PRINTABLE = /^[\x21-\x7e]+$/;

export interface VirtualKeyDeps {
  envelope: Envelope;
  log: Logger;
}

/**
 * `Bearer <virtual key>` for a sealed virtual key; null without one, or if it can't be used. Reuses the result of `former` if
 * the sealed key is the same: payers in use are read every few seconds, and decrypting would cost more than all the rest.
 */
export function authorizationOf(
  { envelope, log }: VirtualKeyDeps,
  { sealed, field, owner }: { sealed: string | null; field: string; owner: object },
  former: CachedPayer | undefined,
): string | null {
  if (sealed === null) return null;
  if (former?.authorization && former.virtualKeySealed === sealed) return former.authorization;
  let key: string;
  try {
    key = envelope.open(sealed, field).toString();
  } catch {
    log.error(
      owner,
      'failed to decrypt a virtual key: was ENCRYPTION_KEY changed without setting ENCRYPTION_KEY_PREVIOUS?',
    );
    return null;
  }
  if (PRINTABLE.test(key)) return `Bearer ${key}`;
  log.error(owner, "a virtual key contains characters that aren't allowed in a header");
  return null;
}
