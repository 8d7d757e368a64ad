import { Arg, Args, Ctx, FieldResolver, Mutation, Query, Resolver } from 'type-graphql';
import { runPlaygroundInput } from '../../services/playground/playground.inputs.js';
import { KEPT_SESSIONS } from '../../services/playground/playground.rules.js';
import { Allow } from '../access.js';
import { Viewer } from '../accounts/accounts.types.js';
import { camelCased } from '../case.js';
import type { GraphqlContext } from '../context.js';
import { checked } from '../input.js';
import {
  CancelPlaygroundRunsInput,
  DeletePlaygroundSessionInput,
  PlaygroundSessionArgs,
  PlaygroundSessionsArgs,
  RunPlaygroundInput,
  SharedPlaygroundArgs,
  SharePlaygroundSessionInput,
  UnsharePlaygroundSessionInput,
} from './playground.args.js';
import {
  CancelPlaygroundRunsPayload,
  DeletePlaygroundSessionPayload,
  PlaygroundSession,
  RunPlaygroundPayload,
  SharedPlaygroundSession,
  SharePlaygroundSessionPayload,
  UnsharePlaygroundSessionPayload,
} from './playground.types.js';

/** Every text of fifty sessions is opened to show its beginning. */
const OPENING_COST = 2_500;

/** Queries and mutations of the model playground. */
@Resolver()
export class PlaygroundResolver {
  @Allow('public')
  @Query(() => SharedPlaygroundSession, {
    nullable: true,
    description: 'A shared playground session, available to anyone with its URL.',
  })
  async sharedPlaygroundSession(
    @Args() { slug }: SharedPlaygroundArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<SharedPlaygroundSession> {
    return camelCased(await services.playground.shared(service, { slug }));
  }

  @Allow('session')
  @Mutation(() => RunPlaygroundPayload, {
    description:
      'Runs a prompt on up to 4 models and returns immediately. Use the subscription `playgroundRun` to stream the answers. Runs are free.',
  })
  async runPlayground(
    @Arg('input', { description: 'The prompt and the models.' }) input: RunPlaygroundInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<RunPlaygroundPayload> {
    const session = await services.playground.start(service, checked(runPlaygroundInput, input));
    return { session: camelCased(session) };
  }

  @Allow('session')
  @Mutation(() => CancelPlaygroundRunsPayload, {
    description: 'Cancels one or all unfinished runs of a session within a second.',
  })
  async cancelPlaygroundRuns(
    @Arg('input', { description: 'The session and, optionally, the run.' })
    { sessionId, runId }: CancelPlaygroundRunsInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<CancelPlaygroundRunsPayload> {
    const session = await services.playground.cancel(service, { id: sessionId, runId: runId ?? null });
    return { session: camelCased(session) };
  }

  @Allow('session')
  @Mutation(() => DeletePlaygroundSessionPayload, {
    description: 'Permanently deletes a session and its runs. Unfinished runs are cancelled.',
  })
  async deletePlaygroundSession(
    @Arg('input', { description: 'The session.' }) { sessionId }: DeletePlaygroundSessionInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<DeletePlaygroundSessionPayload> {
    await services.playground.remove(service, { id: sessionId });
    return { deletedPlaygroundSessionId: sessionId };
  }

  @Allow('session')
  @Mutation(() => SharePlaygroundSessionPayload, {
    description:
      'Creates a public URL with which anyone can read the session. Sharing again returns the same URL unless `rotate` is true.',
  })
  async sharePlaygroundSession(
    @Arg('input', { description: 'The session.' }) { sessionId, rotate }: SharePlaygroundSessionInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<SharePlaygroundSessionPayload> {
    return camelCased(await services.playground.share(service, { id: sessionId, rotate }));
  }

  @Allow('session')
  @Mutation(() => UnsharePlaygroundSessionPayload, {
    description: 'Stops sharing a session. Its public URL stops working immediately.',
  })
  async unsharePlaygroundSession(
    @Arg('input', { description: 'The session.' }) { sessionId }: UnsharePlaygroundSessionInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<UnsharePlaygroundSessionPayload> {
    return { session: camelCased(await services.playground.unshare(service, { id: sessionId })) };
  }
}

/** The playground sessions of the signed-in user. */
@Resolver(() => Viewer)
export class ViewerPlaygroundResolver {
  @FieldResolver(() => [PlaygroundSession], {
    description:
      'The 50 newest playground sessions, newest first, with the first 1,000 characters of each text.',
    complexity: ({ childComplexity }) => OPENING_COST + KEPT_SESSIONS * childComplexity,
  })
  async playgroundSessions(
    @Args() { shared }: PlaygroundSessionsArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<PlaygroundSession[]> {
    return camelCased(await services.playground.list(service, { shared: shared ?? undefined }));
  }

  @FieldResolver(() => PlaygroundSession, {
    nullable: true,
    description: 'A playground session with its full texts.',
  })
  async playgroundSession(
    @Args() { id }: PlaygroundSessionArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<PlaygroundSession> {
    return camelCased(await services.playground.get(service, { id }));
  }
}
