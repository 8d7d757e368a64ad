import type { Config } from '../config.js';
import { createEnvelope } from '../lib/crypto.js';
import type { ServiceDeps } from './deps.js';

/** The envelopes of the services: they seal with the current ENCRYPTION_KEY and open with it or the previous one. */
export function createEnvelopes({
  encryptionKey,
  encryptionKeyPrevious,
}: Pick<Config, 'encryptionKey' | 'encryptionKeyPrevious'>): ServiceDeps['envelopes'] {
  return {
    virtualKey: createEnvelope('virtual-key', encryptionKey, encryptionKeyPrevious),
    dataKey: createEnvelope('data-key', encryptionKey, encryptionKeyPrevious),
    alertSecret: createEnvelope('alert-secret', encryptionKey, encryptionKeyPrevious),
  };
}
