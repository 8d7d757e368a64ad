import { createHmac, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '../../lib/crypto.js';

const MAC_BYTES = 18;

/** A message of the assistant and where it stands. */
export interface ConversationTurn {
  widgetId: string;
  sessionId: string;
  /** Number of messages before it in the conversation. */
  position: number;
  content: string;
}

/**
 * Codes of what models have said: with one, a message of the assistant that comes back is known to be ours, in its place in
 * its conversation. Nothing of the conversation is kept.
 */
export class History {
  readonly #keys: readonly Buffer[];

  constructor({
    encryptionKey,
    encryptionKeyPrevious,
  }: {
    encryptionKey: string | Buffer;
    encryptionKeyPrevious?: string | undefined;
  }) {
    this.#keys = [encryptionKey, encryptionKeyPrevious]
      .filter((secret) => secret !== undefined)
      .map((secret) => deriveKey(secret, 'widget-history'));
  }

  sign(turn: ConversationTurn): string {
    return macOf(this.#keys[0]!, turn).toString('base64url');
  }

  /** Whether a code was made for the turn, with the current secret or the one before. */
  isGenuine(turn: ConversationTurn, code: string): boolean {
    const given = Buffer.from(code, 'base64url');
    if (given.length !== MAC_BYTES) return false;
    return this.#keys.some((key) => timingSafeEqual(macOf(key, turn), given));
  }
}

/** JSON keeps the parts apart. */
const macOf = (key: Buffer, { widgetId, sessionId, position, content }: ConversationTurn): Buffer =>
  createHmac('sha256', key)
    .update(JSON.stringify([widgetId, sessionId, position, content]))
    .digest()
    .subarray(0, MAC_BYTES);
