import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { runParametersInput, runPlaygroundInput } from '../../services/playground/playground.inputs.js';
import { fieldDocs } from '../docs.js';

const ID_OF_SESSION = 'Id of the session.';
const run = fieldDocs(runPlaygroundInput);
const parameters = fieldDocs(runParametersInput);

@ArgsType()
export class PlaygroundSessionArgs {
  @Field(() => ID, { description: ID_OF_SESSION })
  id!: string;
}

@ArgsType()
export class PlaygroundSessionsArgs {
  @Field(() => Boolean, {
    nullable: true,
    description: 'Only sessions that are shared, or only those that are not. Both unless given.',
  })
  shared?: boolean | null;
}

@ArgsType()
export class SharedPlaygroundArgs {
  @Field({ description: 'Last part of the public address.' })
  slug!: string;
}

@ArgsType()
export class PlaygroundRunArgs {
  @Field(() => ID, { description: 'Id of the session whose runs are followed.' })
  sessionId!: string;
}

@InputType({ description: 'How the models of a session sample.' })
export class PlaygroundParametersInput {
  @Field(() => Number, { nullable: true, description: parameters.temperature })
  temperature?: number | null;

  @Field(() => Int, { nullable: true, description: parameters.maxTokens })
  maxTokens?: number | null;

  @Field(() => Number, { nullable: true, description: parameters.topP })
  topP?: number | null;
}

@InputType({ description: 'A prompt for the model playground and the models to ask.' })
export class RunPlaygroundInput {
  @Field({ description: run.prompt })
  prompt!: string;

  @Field(() => String, { nullable: true, description: run.systemPrompt })
  systemPrompt?: string | null;

  @Field(() => [String], { description: run.models })
  models!: string[];

  @Field(() => PlaygroundParametersInput, { nullable: true, description: run.parameters })
  parameters?: PlaygroundParametersInput | null;
}

@InputType()
abstract class SessionIdInput {
  @Field(() => ID, { description: ID_OF_SESSION })
  sessionId!: string;
}

@InputType({ description: 'Runs that are to end.' })
export class CancelPlaygroundRunsInput extends SessionIdInput {
  @Field(() => ID, {
    nullable: true,
    description: 'The run to cancel; every unfinished run of the session unless given.',
  })
  runId?: string | null;
}

@InputType({ description: 'A session that is to go.' })
export class DeletePlaygroundSessionInput extends SessionIdInput {}

@InputType({ description: 'A session that everybody with its address may read.' })
export class SharePlaygroundSessionInput extends SessionIdInput {
  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether to make a new address. The one before stops working at once.',
  })
  rotate?: boolean | null;
}

@InputType({ description: 'A session that nobody else may read any more.' })
export class UnsharePlaygroundSessionInput extends SessionIdInput {}
