import type { ServiceContext } from '../../context.js';
import type { ServiceDeps } from '../deps.js';
import { accountVirtualKeyField, virtualKeyField } from '../keys/keys.rules.js';

/** The sealed virtual keys of a deleted account: those of its API keys, and its own. */
export interface GoneKeys {
  accountId: string;
  keys: readonly { id: string; virtual_key_sealed: string | null }[];
  ownKey: string | null;
}

/**
 * Removes the virtual keys of a deleted account and its API keys from the model proxy. Runs after the commit, best
 * effort: nobody knows a virtual key that stays behind, and an unreachable proxy must not prevent the deletion.
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
