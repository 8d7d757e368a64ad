import type { EntityManager } from '@mikro-orm/postgresql';
import type { Config } from '../../config.js';
import { notifyInvalidation, notifySessions } from '../../db/invalidation.js';
import type { Clock } from '../../lib/clock.js';
import { createEnvelope } from '../../lib/crypto.js';
import type { Logger } from '../../lib/logger.js';
import { stopSharing } from '../playground/playground.store.js';
import { deleteWidgets } from '../widgets/widgets.store.js';
import { endSessions } from './account-changes.rules.js';
import { createAccount } from './account-creation.js';
import { emailKeyOf } from './accounts.rules.js';
import { deleteKeys, findByNormalizedEmail, lockById } from './accounts.store.js';
import { forgetNetworks } from './known-networks.store.js';
import { forgetResets } from './password-reset.store.js';
import type { Passwords } from './passwords.js';
import type { Pseudonyms } from './pseudonyms.rules.js';

const ADMIN_NAME = 'Administrator';

export interface AdminSeedDeps {
  config: Config;
  clock: Clock;
  passwords: Passwords;
  pseudonyms: Pseudonyms;
  log: Logger;
}

/**
 * Seeds the account of `ADMIN_EMAIL`, inside the caller's transaction. A missing account is created. An existing
 * account that isn't an administrator is promoted with `ADMIN_PASSWORD`, and loses everything that lets others in or
 * spends its balance: email addresses aren't verified, so a stranger may have registered this one. An administrator
 * is left alone, so that restarts converge.
 */
export async function seedAdmin(em: EntityManager, deps: AdminSeedDeps): Promise<void> {
  const { config, log } = deps;
  if (config.adminEmail === null) return;
  const existing = await findByNormalizedEmail(em, emailKeyOf(config.adminEmail));
  if (existing?.role === 'admin') return;
  if (config.adminPassword === null) {
    // Jobs seed with the same settings; only the platform logs it.
    if (config.role === 'jobs') return;
    log.warn(
      "ADMIN_EMAIL is set but ADMIN_PASSWORD isn't: no administrator was created. Set both and restart.",
    );
    return;
  }
  const passwordHash = await deps.passwords.hash(config.adminPassword);
  if (existing) {
    await promote(em, existing.id, passwordHash);
    log.warn(
      'promoted the account of ADMIN_EMAIL to administrator; its password was replaced, its sessions and keys were revoked, its widgets were deleted, and nothing of its playground is shared any more',
    );
    return;
  }
  await create(em, config.adminEmail, passwordHash, deps);
  log.info('created the administrator account of ADMIN_EMAIL');
}

/**
 * Makes the account an administrator and removes everything that acts without the new password. Alert subscriptions
 * are deleted with their keys. Balance, usage, prompts and playground sessions stay: they do nothing by themselves.
 */
async function promote(em: EntityManager, id: string, passwordHash: string): Promise<void> {
  const account = (await lockById(em, id))!;
  Object.assign(account, { passwordHash, status: 'active', role: 'admin' });
  endSessions(account);
  await em.flush();
  await forgetNetworks(em, account.id);
  await forgetResets(em, account.id);
  // The account's invalidation makes edges read its widgets again.
  await deleteWidgets(em, account.id);
  await stopSharing(em, account.id);
  const keys = await deleteKeys(em, account.id);
  for (const key of keys) await notifyInvalidation(em, { kind: 'key', id: key.id, accountId: account.id });
  await notifyInvalidation(em, { kind: 'account', id: account.id });
  await notifySessions(em, account.id);
}

async function create(
  em: EntityManager,
  email: string,
  passwordHash: string,
  { config, clock, pseudonyms }: AdminSeedDeps,
): Promise<void> {
  const creation = {
    email,
    name: ADMIN_NAME,
    role: 'admin' as const,
    passwordHash,
    creditMailHash: pseudonyms.foldedMail(email),
    signupNetworkHash: null,
    now: clock.now(),
  };
  const dataKeys = createEnvelope('data-key', config.encryptionKey, config.encryptionKeyPrevious);
  await createAccount(em, creation, dataKeys);
}
