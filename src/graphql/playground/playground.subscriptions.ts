import { Args, Resolver, Root, Subscription } from 'type-graphql';
import type { RunEventOutput } from '../../services/playground/playground.outputs.js';
import { Allow } from '../access.js';
import { camelCased } from '../case.js';
import type { GraphqlContext } from '../context.js';
import { PlaygroundRunArgs } from './playground.args.js';
import { PlaygroundRunEvent } from './playground.types.js';

/** What is told of runs of the model playground while they are under way. */
@Resolver()
export class PlaygroundSubscriptions {
  @Allow('session')
  @Subscription(() => PlaygroundRunEvent, {
    description:
      'The answers of a session as they grow: first what has come of each run so far, then each change, at last the run with its metrics. The text of a run up to `offset`, followed by `delta`, is its text so far. Ends with the last run. Needs a session.',
    subscribe: ({ args, context }: { args: PlaygroundRunArgs; context: GraphqlContext }) =>
      context.services.playground.runEvents(context.service, { id: args.sessionId }),
  })
  playgroundRun(@Root() event: RunEventOutput, @Args() _args: PlaygroundRunArgs): PlaygroundRunEvent {
    return camelCased(event);
  }
}
