import { Args, Resolver, Root, Subscription } from 'type-graphql';
import type { RunEventOutput } from '../../services/playground/playground.outputs.js';
import { Allow } from '../access.js';
import { camelCased } from '../case.js';
import type { GraphqlContext } from '../context.js';
import { PlaygroundRunArgs } from './playground.args.js';
import { PlaygroundRunEvent } from './playground.types.js';

/** Live progress of playground runs. */
@Resolver()
export class PlaygroundSubscriptions {
  @Allow('session')
  @Subscription(() => PlaygroundRunEvent, {
    description:
      'Streams the answers of a session: first the text received so far of each run, then each change, and finally the run with its metrics. The text of a run up to `offset`, followed by `delta`, is its text so far. Completes when the last run has finished. Requires a session.',
    subscribe: ({ args, context }: { args: PlaygroundRunArgs; context: GraphqlContext }) =>
      context.services.playground.runEvents(context.service, { id: args.sessionId }),
  })
  playgroundRun(@Root() event: RunEventOutput, @Args() _args: PlaygroundRunArgs): PlaygroundRunEvent {
    return camelCased(event);
  }
}
