import { defineEntity, p } from '@mikro-orm/core';

/** A session that was logged out, kept while its token would still be valid. */
const EndedSessionSchema = defineEntity({
  name: 'EndedSession',
  tableName: 'ended_sessions',
  properties: {
    sessionId: p.uuid().primary(),
    expiresAt: p.datetime(6),
  },
});

export class EndedSession extends EndedSessionSchema.class {}
EndedSessionSchema.setClass(EndedSession);
