import { defineEntity, p } from '@mikro-orm/core';

/** A session that was logged out, for as long as its token would still be good. */
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
