import type { EntityManager } from '@mikro-orm/postgresql';
import type { ServiceContext } from '../../context.js';
import { COMMAND_LINE_SESSION } from '../../context.js';
import { AdminAction } from '../../entities/admin/admin-action.js';

/** What an administrator did, for the audit log. */
export interface DoneAction {
  /** `node.update` and its like. */
  action: string;
  /** ID or name of what was changed. */
  subjectId: string;
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
  reason?: string;
}

/** Writes down what the viewer did, in the transaction that did it. */
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

/** The fields of two records that differ, as they were and as they are. */
export function changedFields<Fields extends Record<string, unknown>>(
  before: Fields,
  after: Fields,
): { before: Partial<Fields>; after: Partial<Fields> } {
  const names = Object.keys(before).filter((name) => before[name] !== after[name]);
  const pick = (from: Fields) =>
    Object.fromEntries(names.map((name) => [name, from[name]])) as Partial<Fields>;
  return { before: pick(before), after: pick(after) };
}
