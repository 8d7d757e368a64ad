import { Field, ID, ObjectType } from 'type-graphql';
import {
  parametersOutput,
  runEventOutput,
  runOutput,
  sessionOutput,
  sharedSessionOutput,
  sharingOutput,
} from '../../services/playground/playground.outputs.js';
import { enumOf } from '../enum-of.js';
import { outputFields } from '../zod-fields.js';

const PlaygroundRunStatus = enumOf(
  'PlaygroundRunStatus',
  'Status of a playground run.',
  runOutput.shape.status,
  {
    pending: 'The run is queued.',
    running: 'The model is answering.',
    success: 'The answer is complete.',
    error: 'The run failed; `errorMessage` gives the reason.',
    cancelled: 'The run was cancelled.',
  },
);

@ObjectType({ description: runOutput.description })
export class PlaygroundRun extends outputFields(runOutput, { status: PlaygroundRunStatus }) {}

@ObjectType({ description: parametersOutput.description })
export class PlaygroundParameters extends outputFields(parametersOutput) {}

const SESSION_TYPES = { parameters: PlaygroundParameters, runs: [PlaygroundRun] };

@ObjectType({ description: sessionOutput.description })
export class PlaygroundSession extends outputFields(sessionOutput, SESSION_TYPES) {}

@ObjectType({ description: sharedSessionOutput.description })
export class SharedPlaygroundSession extends outputFields(sharedSessionOutput, SESSION_TYPES) {}

@ObjectType({ description: runEventOutput.description })
export class PlaygroundRunEvent extends outputFields(runEventOutput, {
  status: PlaygroundRunStatus,
  run: PlaygroundRun,
}) {}

@ObjectType()
abstract class SessionPayload {
  @Field(() => PlaygroundSession, { description: 'The updated session.' })
  session!: PlaygroundSession;
}

@ObjectType({ description: 'The session whose runs have started.' })
export class RunPlaygroundPayload extends SessionPayload {}

@ObjectType({ description: 'The session whose runs are being cancelled.' })
export class CancelPlaygroundRunsPayload extends SessionPayload {}

@ObjectType({ description: 'The session, which is no longer shared.' })
export class UnsharePlaygroundSessionPayload extends SessionPayload {}

@ObjectType({ description: sharingOutput.description })
export class SharePlaygroundSessionPayload extends outputFields(sharingOutput) {}

@ObjectType({ description: 'The result of a deletion.' })
export class DeletePlaygroundSessionPayload {
  @Field(() => ID, { description: 'ID of the deleted session.' })
  deletedPlaygroundSessionId!: string;
}
