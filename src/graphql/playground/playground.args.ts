import { ArgsType, Field, ID, InputType } from 'type-graphql';
import { z } from 'zod';
import {
  cancelPlaygroundInput,
  listPlaygroundInput,
  playgroundParams,
  runParametersInput,
  runPlaygroundInput,
  sharePlaygroundInput,
  slugParams,
} from '../../services/playground/playground.inputs.js';
import { descriptionOf, inputFields } from '../zod-fields.js';

const sessionId = z.object({ session_id: playgroundParams.shape.id });
const shareFields = sharePlaygroundInput.unwrap().unwrap().shape;
const cancelFields = cancelPlaygroundInput.unwrap().unwrap().shape;

@ArgsType()
export class PlaygroundSessionArgs extends inputFields(playgroundParams, { id: ID }) {}

@ArgsType()
export class PlaygroundSessionsArgs {
  @Field(() => Boolean, { nullable: true, description: descriptionOf(listPlaygroundInput.shape.shared) })
  shared?: boolean | null;
}

@ArgsType()
export class SharedPlaygroundArgs extends inputFields(slugParams) {}

@ArgsType()
export class PlaygroundRunArgs extends inputFields(sessionId, { sessionId: ID }) {}

@InputType({ description: runParametersInput.description })
export class PlaygroundParametersInput extends inputFields(runParametersInput) {}

@InputType({ description: runPlaygroundInput.description })
export class RunPlaygroundInput extends inputFields(runPlaygroundInput, {
  parameters: PlaygroundParametersInput,
}) {}

@InputType({ description: 'The runs to cancel.' })
export class CancelPlaygroundRunsInput extends inputFields(sessionId.extend(cancelFields), {
  sessionId: ID,
  runId: ID,
}) {}

@InputType({ description: 'The session to delete.' })
export class DeletePlaygroundSessionInput extends inputFields(sessionId, { sessionId: ID }) {}

@InputType({ description: 'The session to share.' })
export class SharePlaygroundSessionInput extends inputFields(sessionId.extend(shareFields), {
  sessionId: ID,
}) {}

@InputType({ description: 'The session to stop sharing.' })
export class UnsharePlaygroundSessionInput extends inputFields(sessionId, { sessionId: ID }) {}
