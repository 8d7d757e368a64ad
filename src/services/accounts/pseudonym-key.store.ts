import { randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Config } from '../../config.js';
import { insertIfAbsent } from '../../db/insert-if-absent.js';
import { UNTRACKED } from '../../db/untracked.js';
import { SealedSecret } from '../../entities/installation/sealed-secret.js';
import { createEnvelope, type Envelope } from '../../lib/crypto.js';

const NAME = 'pseudonym-key';
/** Associated data of the envelope. */
const FIELD = `sealed_secret:${NAME}`;
const KEY_BYTES = 32;

/** The stored pseudonym key was sealed with neither the current nor the previous ENCRYPTION_KEY. */
export class PseudonymKeyError extends Error {
  constructor(cause: unknown) {
    super(
      'ENCRYPTION_KEY: neither it nor ENCRYPTION_KEY_PREVIOUS can decrypt this database; set the former key as ENCRYPTION_KEY_PREVIOUS',
      { cause },
    );
    this.name = 'PseudonymKeyError';
  }
}

/**
 * The key of the HMACs under which email addresses and networks are counted (limits, the one starter credit). It is
 * stored in the database, so that rotating a secret doesn't forget them. Created when it is absent; sealed again when
 * it was sealed with the previous ENCRYPTION_KEY. Safe to run in many processes at once.
 * @throws PseudonymKeyError
 */
export async function openPseudonymKey(em: EntityManager, config: Config): Promise<Buffer> {
  const envelope = createEnvelope('pseudonym-key', config.encryptionKey, config.encryptionKeyPrevious);
  const fresh = envelope.seal(randomBytes(KEY_BYTES), FIELD);
  await insertIfAbsent(em, SealedSecret, { name: NAME, sealed: fresh });
  const { sealed } = await em.findOneOrFail(SealedSecret, { name: NAME }, UNTRACKED);
  const key = open(envelope, sealed);
  if (!envelope.isCurrent(sealed)) {
    await em.nativeUpdate(SealedSecret, { name: NAME, sealed }, { sealed: envelope.seal(key, FIELD) });
  }
  return key;
}

function open(envelope: Envelope, sealed: string): Buffer {
  try {
    return envelope.open(sealed, FIELD);
  } catch (error) {
    throw new PseudonymKeyError(error);
  }
}
