import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import {
  parametersOutput,
  type RunEventOutput,
  type RunOutput,
  runEventOutput,
  runOutput,
  type SessionOutput,
  type SharedSessionOutput,
  type SharingOutput,
  sessionOutput,
  sharedSessionOutput,
  sharingOutput,
} from '../../services/playground/playground.outputs.js';
import type { Camel } from '../case.js';
import { fieldDocs } from '../docs.js';
import { DateTime, Decimal } from '../scalars.js';

export const PlaygroundRunStatus = {
  PENDING: 'pending',
  RUNNING: 'running',
  SUCCESS: 'success',
  ERROR: 'error',
  CANCELLED: 'cancelled',
} as const;
registerEnumType(PlaygroundRunStatus, {
  name: 'PlaygroundRunStatus',
  description: 'How far a run of the model playground has come.',
  valuesConfig: {
    PENDING: { description: 'It waits for its turn.' },
    RUNNING: { description: 'The model answers.' },
    SUCCESS: { description: 'The answer is whole.' },
    ERROR: { description: 'It failed; `errorMessage` says why.' },
    CANCELLED: { description: 'It was cancelled.' },
  },
});

const runDoc = fieldDocs(runOutput);

@ObjectType({ description: runOutput.description })
export class PlaygroundRun implements Camel<RunOutput> {
  @Field(() => ID, { description: runDoc.id })
  id!: string;

  @Field({ description: runDoc.modelPublicName })
  modelPublicName!: string;

  @Field(() => String, { nullable: true, description: runDoc.servedModelPublicName })
  servedModelPublicName!: string | null;

  @Field(() => PlaygroundRunStatus, { description: runDoc.status })
  status!: RunOutput['status'];

  @Field(() => String, { nullable: true, description: runDoc.responseContent })
  responseContent!: string | null;

  @Field(() => String, { nullable: true, description: runDoc.finishReason })
  finishReason!: string | null;

  @Field(() => Int, { nullable: true, description: runDoc.latencyMs })
  latencyMs!: number | null;

  @Field(() => Int, { nullable: true, description: runDoc.ttftMs })
  ttftMs!: number | null;

  @Field(() => Int, { description: runDoc.inputTokens })
  inputTokens!: number;

  @Field(() => Int, { description: runDoc.outputTokens })
  outputTokens!: number;

  @Field(() => Decimal, { description: runDoc.costUsd })
  costUsd!: string;

  @Field(() => Decimal, { description: runDoc.listCostUsd })
  listCostUsd!: string;

  @Field(() => String, { nullable: true, description: runDoc.errorCode })
  errorCode!: string | null;

  @Field(() => String, { nullable: true, description: runDoc.errorMessage })
  errorMessage!: string | null;
}

const parametersDoc = fieldDocs(parametersOutput);

@ObjectType({ description: parametersOutput.description })
export class PlaygroundParameters implements Camel<SessionOutput['parameters']> {
  @Field(() => Number, { nullable: true, description: parametersDoc.temperature })
  temperature!: number | null;

  @Field(() => Int, { description: parametersDoc.maxTokens })
  maxTokens!: number;

  @Field(() => Number, { nullable: true, description: parametersDoc.topP })
  topP!: number | null;
}

const sessionDoc = fieldDocs(sessionOutput);

@ObjectType()
abstract class ShownSession implements Camel<SharedSessionOutput> {
  @Field({ description: sessionDoc.prompt })
  prompt!: string;

  @Field(() => String, { nullable: true, description: sessionDoc.systemPrompt })
  systemPrompt!: string | null;

  @Field(() => [String], { description: sessionDoc.models })
  models!: string[];

  @Field(() => PlaygroundParameters, { description: sessionDoc.parameters })
  parameters!: PlaygroundParameters;

  @Field(() => [PlaygroundRun], { description: sessionDoc.runs })
  runs!: PlaygroundRun[];

  @Field(() => DateTime, { description: sessionDoc.createdAt })
  createdAt!: string;
}

@ObjectType({ description: sessionOutput.description })
export class PlaygroundSession extends ShownSession implements Camel<SessionOutput> {
  @Field(() => ID, { description: sessionDoc.id })
  id!: string;

  @Field({ description: sessionDoc.shared })
  shared!: boolean;

  @Field(() => String, { nullable: true, description: sessionDoc.shareSlug })
  shareSlug!: string | null;

  @Field(() => String, { nullable: true, description: sessionDoc.publicUrl })
  publicUrl!: string | null;

  @Field({ description: sessionDoc.truncated })
  truncated!: boolean;
}

@ObjectType({ description: sharedSessionOutput.description })
export class SharedPlaygroundSession extends ShownSession {}

const eventDoc = fieldDocs(runEventOutput);

@ObjectType({ description: runEventOutput.description })
export class PlaygroundRunEvent implements Camel<RunEventOutput> {
  @Field(() => ID, { description: eventDoc.sessionId })
  sessionId!: string;

  @Field(() => ID, { description: eventDoc.runId })
  runId!: string;

  @Field({ description: eventDoc.modelPublicName })
  modelPublicName!: string;

  @Field(() => PlaygroundRunStatus, { description: eventDoc.status })
  status!: RunOutput['status'];

  @Field(() => Int, { description: eventDoc.offset })
  offset!: number;

  @Field({ description: eventDoc.delta })
  delta!: string;

  @Field(() => Int, { nullable: true, description: eventDoc.ttftMs })
  ttftMs!: number | null;

  @Field(() => PlaygroundRun, { nullable: true, description: eventDoc.run })
  run!: PlaygroundRun | null;
}

@ObjectType()
abstract class SessionPayload {
  @Field(() => PlaygroundSession, { description: 'The session as it is now.' })
  session!: PlaygroundSession;
}

@ObjectType({ description: 'A session whose runs have begun.' })
export class RunPlaygroundPayload extends SessionPayload {}

@ObjectType({ description: 'A session whose runs are to end.' })
export class CancelPlaygroundRunsPayload extends SessionPayload {}

@ObjectType({ description: 'A session that is not shared any more.' })
export class UnsharePlaygroundSessionPayload extends SessionPayload {}

const sharingDoc = fieldDocs(sharingOutput);

@ObjectType({ description: sharingOutput.description })
export class SharePlaygroundSessionPayload implements Camel<SharingOutput> {
  @Field({ description: sharingDoc.shareSlug })
  shareSlug!: string;

  @Field({ description: sharingDoc.publicUrl })
  publicUrl!: string;
}

@ObjectType({ description: 'What was deleted.' })
export class DeletePlaygroundSessionPayload {
  @Field(() => ID, { description: 'Id of the session that is gone.' })
  deletedPlaygroundSessionId!: string;
}
