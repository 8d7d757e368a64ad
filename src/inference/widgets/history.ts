import { createHmac, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '../../lib/crypto.js';

const MAC_BYTES = 18;

/** A message of the assistant and its place in the conversation. */
export interface ConversationTurn {
  widgetId: string;
  sessionId: string;
  /** Number of messages before it in the conversation. */
  position: number;
  content: string;
}

/**
 * Signs the assistant's messages, so that a message that a client sends back is known to be genuine and in its place in the
 * conversation. Stores nothing of the conversation.
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

  /** Whether the code was made for this turn, with the current or the previous secret. */
  isGenuine(turn: ConversationTurn, code: string): boolean {
    const given = Buffer.from(code, 'base64url');
    if (given.length !== MAC_BYTES) return false;
    return this.#keys.some((key) => timingSafeEqual(macOf(key, turn), given));
  }
}

/** Uses JSON to separate the parts unambiguously. */
const macOf = (key: Buffer, { widgetId, sessionId, position, content }: ConversationTurn): Buffer =>
  createHmac('sha256', key)
    .update(JSON.stringify([widgetId, sessionId, position, content]))
    .digest()
    .subarray(0, MAC_BYTES);
