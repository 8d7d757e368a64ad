import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../lib/ids.js';

/** Where an administrator acted: in a session, or on the server's command line. */
export type AdminSource = 'session' | 'command_line';

/** What an administrator did. The database refuses to change or delete it. */
const AdminActionSchema = defineEntity({
  name: 'AdminAction',
  tableName: 'admin_actions',
  indexes: [
    {
      name: 'admin_actions_created_at',
      columns: [
        { name: 'created_at', sort: 'desc' },
        { name: 'id', sort: 'desc' },
      ],
    },
    {
      name: 'admin_actions_actor',
      columns: [{ name: 'actor_id' }, { name: 'created_at', sort: 'desc' }, { name: 'id', sort: 'desc' }],
    },
    {
      name: 'admin_actions_subject',
      columns: [{ name: 'subject_id' }, { name: 'created_at', sort: 'desc' }, { name: 'id', sort: 'desc' }],
    },
  ],
  properties: {
    id: p.uuid().primary().onCreate(newId),
    /** The administrator's account. Null on the command line. */
    actorId: p.uuid().nullable(),
    source: p.text().$type<AdminSource>(),
    /** For example `node.update`. */
    action: p.text(),
    /** ID or name of the changed object. */
    subjectId: p.text(),
    /** The changed fields before and after. */
    before: p.json<Record<string, unknown>>().nullable(),
    after: p.json<Record<string, unknown>>().nullable(),
    reason: p.text().nullable(),
    createdAt: p.datetime(6),
  },
});

export class AdminAction extends AdminActionSchema.class {}
AdminActionSchema.setClass(AdminAction);
