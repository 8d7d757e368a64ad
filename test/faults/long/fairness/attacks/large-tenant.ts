import { setTimeout as pause } from 'node:timers/promises';
import { operate } from '../../../../graphql/support.js';
import { from } from '../accounts.js';
import type { Attack } from '../attack.js';

const AT_ONCE = 6;
const ALIASES = 15;
/** Delay of retries, shorter than the response asks for. */
const REFUSED_MS = 200;

/** Six clients of an account with very many calls, each asking fifteen times in one document for those of a rare key. */
export const largeTenant: Attack = async (target) => {
  const { token, address, rareKeyId } = target.tenant;
  const fields = Array.from(
    { length: ALIASES },
    (_, n) => `a${n}: usageEvents(first: 1, filter: { keyId: "${rareKeyId}" }) { nodes { id } }`,
  );
  const query = `{ viewer { ${fields.join(' ')} } }`;
  const client = async (): Promise<void> => {
    while (!target.over()) {
      const { status, body } = await operate(target.url, query, { token, headers: from(address) }).catch(
        () => ({
          status: 0,
          body: {},
        }),
      );
      const failed = status !== 200 || 'errors' in body;
      target.count('documents of a large account', failed ? `${status} with errors` : status);
      if (failed) await pause(REFUSED_MS);
    }
  };
  return () => Promise.all(Array.from({ length: AT_ONCE }, client));
};
