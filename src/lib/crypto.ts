import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';

/**
 * One key per purpose is derived from each configured secret (requirement R14), so that a value made for one
 * purpose is worthless for another.
 */
export type KeyPurpose =
  | 'virtual-key'
  | 'data-key'
  | 'alert-secret'
  | 'content'
  | 'pseudonym-key'
  | 'session'
  | 'mail-hash'
  | 'network-hash'
  | 'mail-link'
  | 'widget-history'
  | 'widget-visitors';

const IV_BYTES = 12;
const TAG_BYTES = 16;
const ENVELOPE_VERSION = 'v1';

/** A 32-byte key for one purpose (HKDF-SHA-256). */
export function deriveKey(secret: string | Buffer, purpose: KeyPurpose): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'inference-gateway', purpose, 32));
}

/** Encrypts and decrypts texts for one purpose. */
export interface Envelope {
  /** Encrypts with AES-256-GCM. `associated` names owner, row and field, so that values of two rows can't be swapped. */
  seal(plain: string | Buffer, associated: string): string;
  /** @throws Error if no known key fits, the text was altered, or it belongs to another field. */
  open(sealed: string, associated: string): Buffer;
  /** Whether a text was sealed with the current key; if not, it should be sealed again. */
  isCurrent(sealed: string): boolean;
  /** Beginning of every text sealed with the current key. */
  readonly prefix: string;
}

function keyId(key: Buffer): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, 8);
}

/** An envelope that seals with the current secret and opens what the current or the previous one sealed. */
export function createEnvelope(purpose: KeyPurpose, current: string | Buffer, previous?: string): Envelope {
  const keys = [current, previous]
    .filter((secret) => secret !== undefined)
    .map((secret) => deriveKey(secret, purpose));
  const byId = new Map(keys.map((key) => [keyId(key), key]));
  const sealing = keys[0]!;
  const prefix = `${ENVELOPE_VERSION}.${keyId(sealing)}.`;
  return {
    seal(plain, associated) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealing, iv).setAAD(Buffer.from(associated));
      const body = Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
      return `${prefix}${body.toString('base64url')}`;
    },
    open(sealed, associated) {
      const [version, id, text, ...rest] = sealed.split('.');
      const key = id === undefined ? undefined : byId.get(id);
      if (version !== ENVELOPE_VERSION || !key || text === undefined || rest.length > 0) {
        throw new Error('sealed value of an unknown form or key');
      }
      const body = Buffer.from(text, 'base64url');
      if (body.length < IV_BYTES + TAG_BYTES) throw new Error('sealed value is too short');
      const decipher = createDecipheriv('aes-256-gcm', key, body.subarray(0, IV_BYTES))
        .setAAD(Buffer.from(associated))
        .setAuthTag(body.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(body.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
    },
    isCurrent: (sealed) => sealed.startsWith(prefix),
    prefix,
  };
}

/** Opens a sealed text; undefined if it can't be opened. */
export function openOrNothing(envelope: Envelope, sealed: string, associated: string): Buffer | undefined {
  try {
    return envelope.open(sealed, associated);
  } catch {
    return undefined;
  }
}

export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** HMAC-SHA-256 of a text, hex. Replaces email addresses and networks by meaningless names. */
export function hmacHex(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex');
}
