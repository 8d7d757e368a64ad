import type { VirtualKeys } from '../../router/virtual-keys.js';
import type { VirtualKeyClient } from './virtual-keys.js';

/** Creates and removes virtual keys in the table of the router in this process. */
export const storedVirtualKeys = (keys: Pick<VirtualKeys, 'generate' | 'remove'>): VirtualKeyClient => ({
  async generate({ accountId, alias }) {
    return (await keys.generate({ userId: accountId, keyAlias: alias })).key;
  },
  async remove(virtualKeys) {
    await keys.remove(virtualKeys);
  },
});
