import type { ServiceContext } from '../../context.js';
import { UNTRACKED } from '../../db/untracked.js';
import { Account } from '../../entities/accounts/account.js';
import { AppError } from '../../errors.js';
import { newId } from '../../lib/ids.js';
import type { ServiceDeps } from '../deps.js';
import { accountVirtualKeyField } from '../keys/keys.rules.js';
import { openOrRefuse } from './content.js';

type Deps = Pick<ServiceDeps, 'envelopes' | 'virtualKeys'>;

const RETRY_AFTER_SECONDS = 5;

/**
 * `Bearer <virtual key>` of the account itself, created at its first use. Only the request that needs it waits for
 * the model proxy, without holding a lock. When two requests create one at once, the first one stays.
 * @throws AppError `upstream_unconfigured` when the model proxy returns none; as `openOrRefuse`
 */
export async function accountAuthorization(
  context: ServiceContext,
  accountId: string,
  deps: Deps,
): Promise<string> {
  const known = await readKey(context, accountId, deps);
  return `Bearer ${known ?? (await makeKey(context, accountId, deps))}`;
}

async function readKey(
  { em }: ServiceContext,
  accountId: string,
  { envelopes }: Deps,
): Promise<string | undefined> {
  const account = await em.findOne(Account, { id: accountId, deletedAt: null }, UNTRACKED);
  if (!account) throw new AppError('unauthorized');
  const sealed = account.virtualKeySealed;
  if (sealed == null) return undefined;
  return openOrRefuse(envelopes.virtualKey, sealed, accountVirtualKeyField(accountId)).toString('utf8');
}

async function makeKey(context: ServiceContext, accountId: string, deps: Deps): Promise<string> {
  const { envelopes, virtualKeys } = deps;
  // An alias must be unique, and the key that lost a race below may still exist.
  const alias = `account-${accountId}-${newId()}`;
  const made = await virtualKeys.generate({ accountId, alias }).catch((error: unknown) => {
    context.log.warn({ err: error }, 'an account has no virtual key: its playground runs are refused');
    throw new AppError('upstream_unconfigured', {
      message: 'The playground has no virtual key for your account yet. Try again in a moment.',
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  });
  const virtualKeySealed = envelopes.virtualKey.seal(made, accountVirtualKeyField(accountId));
  const isFirst = await context.em.nativeUpdate(
    Account,
    { id: accountId, deletedAt: null, virtualKeySealed: null },
    { virtualKeySealed },
  );
  if (isFirst > 0) return made;
  await virtualKeys.remove([made]).catch((error: unknown) => {
    context.log.warn({ err: error }, 'an unused virtual key could not be removed from the model proxy');
  });
  const known = await readKey(context, accountId, deps);
  if (known === undefined) throw new AppError('unauthorized');
  return known;
}
