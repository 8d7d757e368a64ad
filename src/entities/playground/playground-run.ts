import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../lib/ids.js';
import { PlaygroundSession } from './playground-session.js';

export type RunStatus = 'pending' | 'running' | 'success' | 'error' | 'cancelled';

/** One model's answer to a session's prompt. Deleted with its session. */
const PlaygroundRunSchema = defineEntity({
  name: 'PlaygroundRun',
  tableName: 'playground_runs',
  uniques: [{ name: 'playground_runs_place', properties: ['sessionId', 'position'] }],
  indexes: [
    {
      name: 'playground_runs_unfinished',
      properties: ['aliveUntil'],
      where: "status in ('pending', 'running')",
    },
  ],
  properties: {
    id: p.uuid().primary().onCreate(newId),
    sessionId: () =>
      p
        .manyToOne(PlaygroundSession)
        .mapToPk()
        .joinColumn('session_id')
        .foreignKeyName('playground_runs_session_id_fkey')
        .deleteRule('cascade'),
    /** Position among the models of the session, from 0. */
    position: p.smallint(),
    modelPublicName: p.text(),
    /** The model that answered: a fallback if the requested one couldn't. */
    servedModel: p.text().nullable(),
    status: p.text().$type<RunStatus>().default('pending'),
    /** The answer, sealed with the account's data key. */
    responseSealed: p.text().nullable().hidden(),
    finishReason: p.text().nullable(),
    errorCode: p.text().nullable(),
    errorMessage: p.text().nullable(),
    latencyMs: p.integer().nullable(),
    ttftMs: p.integer().nullable(),
    inputTokens: p.integer().default(0),
    outputTokens: p.integer().default(0),
    /** Always 0: nobody is charged for a run. */
    costUsd: p.decimal().precision(24).scale(12).default('0'),
    /** The cost of the same call on `/v1`. */
    listCostUsd: p.decimal().precision(24).scale(12).default('0'),
    /** The process that makes the run keeps renewing this. When it has passed, the run is abandoned. */
    aliveUntil: p.datetime(6),
    cancelRequested: p.boolean().default(false),
  },
});

export class PlaygroundRun extends PlaygroundRunSchema.class {}
PlaygroundRunSchema.setClass(PlaygroundRun);
