import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { COMMAND_LINE_SESSION, type ServiceContext } from '../../context.js';
import { AdminAction, type AdminSource } from '../../entities/admin/admin-action.js';
import { formatTimestamp } from '../../lib/clock.js';
import { uuidOf } from '../../lib/uuid.js';
import type { ListActionsInput } from './admin.inputs.js';
import type { ActionOutput } from './admin.outputs.js';

/** What an administrator did, for the audit log. */
export interface DoneAction {
  /** For example `node.update`. */
  action: string;
  /** ID or name of the changed object. */
  subjectId: string;
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
  reason?: string;
}

/** Records what the viewer did, in the same transaction. */
export function recordAction(em: EntityManager, { viewer, clock }: ServiceContext, done: DoneAction): void {
  const onCommandLine = !viewer || viewer.sessionId === COMMAND_LINE_SESSION;
  em.persist(
    em.create(AdminAction, {
      actorId: onCommandLine ? null : viewer.accountId,
      source: onCommandLine ? 'command_line' : 'session',
      action: done.action,
      subjectId: done.subjectId,
      before: done.before ?? null,
      after: done.after ?? null,
      reason: done.reason ?? null,
      createdAt: new Date(clock.now()),
    }),
  );
}

/** The fields in which two records differ, with their values before and after. */
export function changedFields<Fields extends Record<string, unknown>>(
  before: Fields,
  after: Fields,
): { before: Partial<Fields>; after: Partial<Fields> } {
  const names = Object.keys(before).filter((name) => before[name] !== after[name]);
  const pick = (from: Fields) =>
    Object.fromEntries(names.map((name) => [name, from[name]])) as Partial<Fields>;
  return { before: pick(before), after: pick(after) };
}

interface ActionRow {
  id: string;
  actor_id: string | null;
  actor_email: string | null;
  source: AdminSource;
  action: string;
  subject_id: string;
  subject_email: string | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  reason: string | null;
  created_at: Date;
}

/**
 * The audit log, newest first, optionally of one subject, kind of action or administrator. What precedes the page is
 * skipped on an index alone.
 */
export async function listActions(
  em: EntityManager,
  { limit, offset, subject_id: subject, action, actor_id: actor }: ListActionsInput,
): Promise<ActionOutput[]> {
  const actorId = actor === undefined ? undefined : uuidOf(actor);
  if (actor !== undefined && actorId === undefined) return [];
  const wanted = [
    ...(subject === undefined ? [] : [sql<boolean>`l.subject_id = ${subject}`]),
    ...(action === undefined ? [] : [sql<boolean>`starts_with(l.action, ${action})`]),
    ...(actorId === undefined ? [] : [sql<boolean>`l.actor_id = ${actorId}`]),
  ];
  const { rows } = await sql<ActionRow>`
    with page as materialized (
      select l.created_at, l.id from admin_actions l
      where ${wanted.length === 0 ? sql`true` : sql.join(wanted, sql` and `)}
      order by l.created_at desc, l.id desc limit ${limit} offset ${offset}
    )
    select l.*, a.email as actor_email, s.email as subject_email
    from page join admin_actions l on l.id = page.id
    left join accounts a on a.id = l.actor_id
    left join accounts s on s.id = case when starts_with(l.action, 'account.') then l.subject_id::uuid end
    order by l.created_at desc, l.id desc`.execute(em.getKysely());
  return rows.map(({ before, after, created_at, ...row }) => ({
    id: row.id,
    action: row.action,
    source: row.source,
    actor_id: row.actor_id,
    actor_email: row.actor_email,
    subject_id: row.subject_id,
    subject_email: row.subject_email,
    changes: [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
      .sort()
      .map((field) => ({
        field,
        before: shown(before?.[field]),
        after: shown(after?.[field]),
      })),
    reason: row.reason,
    created_at: formatTimestamp(new Date(created_at)),
  }));
}

function shown(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
