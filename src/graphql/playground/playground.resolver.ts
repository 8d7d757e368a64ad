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

/** What is done in the model playground. */
@Resolver()
export class PlaygroundResolver {
  @Allow('public')
  @Query(() => SharedPlaygroundSession, {
    nullable: true,
    description: 'A shared session of the model playground, for everybody who has its address.',
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
      'Asks up to 4 models in the model playground and returns at once; follow the answers with the subscription `playgroundRun`. Nothing is charged.',
  })
  async runPlayground(
    @Arg('input', { description: 'Prompt and models.' }) input: RunPlaygroundInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<RunPlaygroundPayload> {
    const session = await services.playground.start(service, checked(runPlaygroundInput, input));
    return { session: camelCased(session) };
  }

  @Allow('session')
  @Mutation(() => CancelPlaygroundRunsPayload, {
    description: 'Ends unfinished runs of a session within a second, all or one.',
  })
  async cancelPlaygroundRuns(
    @Arg('input', { description: 'The session, and maybe the run.' })
    { sessionId, runId }: CancelPlaygroundRunsInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<CancelPlaygroundRunsPayload> {
    const session = await services.playground.cancel(service, { id: sessionId, runId: runId ?? null });
    return { session: camelCased(session) };
  }

  @Allow('session')
  @Mutation(() => DeletePlaygroundSessionPayload, {
    description: 'Deletes a session with its runs for good. Runs under way are cancelled.',
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
      'Shows a session to everybody who has its address. Sharing again gives the same address, unless `rotate` asks for another.',
  })
  async sharePlaygroundSession(
    @Arg('input', { description: 'The session.' }) { sessionId, rotate }: SharePlaygroundSessionInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<SharePlaygroundSessionPayload> {
    return camelCased(await services.playground.share(service, { id: sessionId, rotate }));
  }

  @Allow('session')
  @Mutation(() => UnsharePlaygroundSessionPayload, {
    description: 'Stops sharing a session: its public address stops working at once.',
  })
  async unsharePlaygroundSession(
    @Arg('input', { description: 'The session.' }) { sessionId }: UnsharePlaygroundSessionInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<UnsharePlaygroundSessionPayload> {
    return { session: camelCased(await services.playground.unshare(service, { id: sessionId })) };
  }
}

/** The model playground of the one who is signed in. */
@Resolver(() => Viewer)
export class ViewerPlaygroundResolver {
  @FieldResolver(() => [PlaygroundSession], {
    description:
      'The newest 50 sessions of the model playground, newest first, with the first 1,000 characters of each text.',
    complexity: ({ childComplexity }) => 1 + KEPT_SESSIONS * childComplexity,
  })
  async playgroundSessions(
    @Args() { shared }: PlaygroundSessionsArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<PlaygroundSession[]> {
    return camelCased(await services.playground.list(service, { shared: shared ?? undefined }));
  }

  @FieldResolver(() => PlaygroundSession, {
    nullable: true,
    description: 'One session of the model playground, with its texts whole.',
  })
  async playgroundSession(
    @Args() { id }: PlaygroundSessionArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<PlaygroundSession> {
    return camelCased(await services.playground.get(service, { id }));
  }
}
