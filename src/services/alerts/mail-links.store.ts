import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { MailRecipient } from '../../entities/alerts/mail-recipient.js';
import type { MailLink, MailLinkAction } from './mail-links.rules.js';

/**
 * Records what a recipient says to the mails of an account; the first time counts, and nothing does behind a stop. Nothing is
 * kept for an account that is deleted: it sends nothing.
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

/** Whether a recipient has stopped the mails of an account. */
export async function hasStopped(
  em: EntityManager,
  { accountId, recipientHash }: MailLink,
): Promise<boolean> {
  return (await em.count(MailRecipient, { accountId, recipientHash, stoppedAt: { $ne: null } })) > 0;
}

/** Forgets what recipients have said to an account that is deleted. */
export async function deleteWishes(em: EntityManager, accountId: string): Promise<void> {
  await em.nativeDelete(MailRecipient, { accountId });
}
