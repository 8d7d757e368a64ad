import type { ServiceContext } from '../../context.js';
import type { ServiceDeps } from '../deps.js';
import { accountVirtualKeyField, virtualKeyField } from '../keys/keys.rules.js';

/** What an account that is deleted held upstream, sealed: by its API keys, and itself. */
export interface GoneKeys {
  accountId: string;
  keys: readonly { id: string; virtual_key_sealed: string | null }[];
  ownKey: string | null;
}

/**
 * Removes the virtual keys of an account and of API keys that are gone from the model proxy. It comes after the commit and is best
 * effort: a virtual key that stays is known to nobody outside, and the proxy being away must not keep an account.
 */
export async function removeVirtualKeys(
  context: ServiceContext,
  { accountId, keys, ownKey }: GoneKeys,
  { envelopes, virtualKeys }: ServiceDeps,
): Promise<void> {
  try {
    const plain = keys
      .filter((key) => key.virtual_key_sealed !== null)
      .map((key) => envelopes.virtualKey.open(key.virtual_key_sealed!, virtualKeyField(key.id)));
    if (ownKey !== null) plain.push(envelopes.virtualKey.open(ownKey, accountVirtualKeyField(accountId)));
    if (plain.length > 0) await virtualKeys.remove(plain.map((key) => key.toString('utf8')));
  } catch (error) {
    context.log.warn(
      { err: error, keys: keys.length },
      'virtual keys of a deleted account could not be removed',
    );
  }
}
