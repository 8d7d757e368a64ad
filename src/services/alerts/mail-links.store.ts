import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { MailRecipient } from '../../entities/alerts/mail-recipient.js';
import type { MailLink, MailLinkAction } from './mail-links.rules.js';

/**
 * Records a recipient's choice about the emails of an account. Only the first time counts, and nothing after a stop.
 * Nothing is stored for a deleted account, which sends no emails.
 */
export async function recordWish(
  em: EntityManager,
  { accountId, recipientHash }: MailLink,
  action: MailLinkAction,
): Promise<void> {
  const column = sql.ref(action === 'stop' ? 'stopped_at' : 'confirmed_at');
  await sql`
    insert into mail_recipients as m (account_id, recipient_hash, ${column})
    select id, ${recipientHash}, now() from accounts where id = ${accountId} and deleted_at is null
    on conflict (account_id, recipient_hash) do update set ${column} = now()
    where m.${column} is null and m.stopped_at is null`.execute(em.getKysely());
}

/** Whether a recipient has stopped the emails of an account. */
export async function hasStopped(
  em: EntityManager,
  { accountId, recipientHash }: MailLink,
): Promise<boolean> {
  return (await em.count(MailRecipient, { accountId, recipientHash, stoppedAt: { $ne: null } })) > 0;
}

/** Deletes the choices of recipients about a deleted account. */
export async function deleteWishes(em: EntityManager, accountId: string): Promise<void> {
  await em.nativeDelete(MailRecipient, { accountId });
}
