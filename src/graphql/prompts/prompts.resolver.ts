import type { ComplexityEstimator } from 'graphql-query-complexity';
import { Arg, Args, Ctx, FieldResolver, Mutation, Resolver, Root } from 'type-graphql';
import {
  addPromptVersionInput,
  createPromptInput,
  diffPromptInput,
  listPromptsInput,
  movePromptInput,
  pageInput,
  renderPromptListInput,
  sequenceConnectionInput,
  timeConnectionInput,
  updatePromptInput,
} from '../../services/prompts/prompts.inputs.js';
import { Allow } from '../access.js';
import { Viewer } from '../accounts/accounts.types.js';
import { camelCased } from '../case.js';
import { type Connection, PageArgs, pageCost, toConnection } from '../connections.js';
import type { GraphqlContext } from '../context.js';
import { checked } from '../input.js';
import {
  ActivatePromptVersionInput,
  AddPromptVersionInput,
  CreatePromptInput,
  DeletePromptInput,
  PromptActivationsArgs,
  PromptArgs,
  PromptDiffArgs,
  PromptsArgs,
  RenderPromptArgs,
  UndoPromptActivationInput,
  UpdatePromptInput,
} from './prompts.args.js';
import {
  ActivatePromptVersionPayload,
  AddPromptVersionPayload,
  CreatePromptPayload,
  DeletePromptPayload,
  Prompt,
  PromptActivation,
  PromptChange,
  PromptConnection,
  PromptDiff,
  PromptVersion,
  PromptVersionConnection,
  RenderedPrompt,
  UndoPromptActivationPayload,
  UpdatePromptPayload,
} from './prompts.types.js';

/** Each of a page may be 50,000 characters long, whichever of its fields is asked for. */
const TEXT_COST = 50;
const textsCost: ComplexityEstimator = (options) =>
  pageCost({ ...options, childComplexity: options.childComplexity + TEXT_COST });

/** Mutations of prompts. */
@Resolver()
export class PromptsResolver {
  @Allow('session')
  @Mutation(() => CreatePromptPayload, {
    description: 'Creates a prompt whose first version is active. An account can have up to 200 prompts.',
  })
  async createPrompt(
    @Arg('input', { description: 'The prompt.' }) input: CreatePromptInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<CreatePromptPayload> {
    return { prompt: camelCased(await services.prompts.create(service, checked(createPromptInput, input))) };
  }

  @Allow('session')
  @Mutation(() => UpdatePromptPayload, {
    description: 'Changes name and description. The slug stays the same.',
  })
  async updatePrompt(
    @Arg('input', { description: 'The prompt and the changes.' }) { id, ...change }: UpdatePromptInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<UpdatePromptPayload> {
    const input = { ...checked(updatePromptInput, change), id };
    return { prompt: camelCased(await services.prompts.update(service, input)) };
  }

  @Allow('session')
  @Mutation(() => AddPromptVersionPayload, {
    description: "Adds a version, which isn't activated. A prompt can have up to 500 versions.",
  })
  async addPromptVersion(
    @Arg('input', { description: 'The prompt and the version.' }) {
      promptId,
      ...version
    }: AddPromptVersionInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<AddPromptVersionPayload> {
    const input = { ...checked(addPromptVersionInput, version), id: promptId };
    const added = await services.prompts.addVersion(service, input);
    const prompt = await services.prompts.get(service, { id: promptId });
    return { prompt: camelCased(prompt), version: camelCased(added) };
  }

  @Allow('session')
  @Mutation(() => ActivatePromptVersionPayload, {
    description: 'Makes a version the one that is rendered.',
  })
  async activatePromptVersion(
    @Arg('input', { description: 'The prompt and the version.' })
    { promptId, versionId, ...expected }: ActivatePromptVersionInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<ActivatePromptVersionPayload> {
    const input = { ...checked(movePromptInput, expected), id: promptId, vid: versionId };
    return { prompt: camelCased(await services.prompts.activate(service, input)) };
  }

  @Allow('session')
  @Mutation(() => UndoPromptActivationPayload, {
    description: 'Activates the previously active version again, as a new activation.',
  })
  async undoPromptActivation(
    @Arg('input', { description: 'The prompt.' }) { promptId, ...expected }: UndoPromptActivationInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<UndoPromptActivationPayload> {
    const input = { ...checked(movePromptInput, expected), id: promptId };
    return { prompt: camelCased(await services.prompts.undoActivation(service, input)) };
  }

  @Allow('session')
  @Mutation(() => DeletePromptPayload, {
    description: 'Permanently deletes a prompt and all its versions.',
  })
  async deletePrompt(
    @Arg('input', { description: 'The prompt.' }) { id }: DeletePromptInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<DeletePromptPayload> {
    await services.prompts.remove(service, { id });
    return { deletedPromptId: id };
  }
}

/** The prompts of the signed-in user. */
@Resolver(() => Viewer)
export class ViewerPromptsResolver {
  @FieldResolver(() => PromptConnection, {
    description: 'Saved prompts of the account.',
    complexity: textsCost,
  })
  async prompts(
    @Args() { search, ...args }: PromptsArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<Connection<Prompt>> {
    const { search: wanted } = checked(listPromptsInput.pick({ search: true }), { search });
    const page = { ...checked(timeConnectionInput, args), search: wanted };
    return toConnection(await services.prompts.page(service, page), args, camelCased);
  }

  @FieldResolver(() => Prompt, { nullable: true, description: 'A saved prompt, by ID or slug.' })
  async prompt(@Args() { id }: PromptArgs, @Ctx() { services, service }: GraphqlContext): Promise<Prompt> {
    return camelCased(await services.prompts.get(service, { id }));
  }
}

/** As many comparisons a minute as over REST: each may take a twentieth of a second of this process. */
const diffCost: ComplexityEstimator = ({ childComplexity }) => 5_000 + childComplexity;
/** As many renders a minute as over REST: each may give a megabyte. */
const renderCost: ComplexityEstimator = ({ childComplexity }) => 500 + childComplexity;
const activationsCost: ComplexityEstimator = ({ args, childComplexity }) =>
  1 + Math.min(Math.max(args.limit, 1), 500) * childComplexity;

/** Related objects of a prompt. */
@Resolver(() => Prompt)
export class PromptResolver {
  @FieldResolver(() => PromptVersionConnection, {
    description: 'Versions of the prompt.',
    complexity: textsCost,
  })
  async versions(
    @Root() { id }: Prompt,
    @Args() args: PageArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<Connection<PromptVersion>> {
    const page = { ...checked(sequenceConnectionInput, args), id };
    return toConnection(await services.prompts.versions(service, page), args, camelCased);
  }

  @FieldResolver(() => [PromptActivation], {
    description: 'Activations of versions, newest first.',
    complexity: activationsCost,
  })
  async activations(
    @Root() { id }: Prompt,
    @Args() args: PromptActivationsArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<PromptActivation[]> {
    return camelCased(await services.prompts.activations(service, { ...checked(pageInput, args), id }));
  }

  @FieldResolver(() => PromptDiff, {
    nullable: true,
    description: 'The differences between two versions.',
    complexity: diffCost,
  })
  async diff(
    @Root() { id }: Prompt,
    @Args() args: PromptDiffArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<PromptDiff> {
    return camelCased(await services.prompts.diff(service, { ...checked(diffPromptInput, args), id }));
  }

  @FieldResolver(() => RenderedPrompt, {
    nullable: true,
    description: 'The active version with all placeholders replaced.',
    complexity: renderCost,
  })
  async rendered(
    @Root() { id }: Prompt,
    @Args() args: RenderPromptArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<RenderedPrompt> {
    const input = checked(renderPromptListInput, args);
    return camelCased(await services.prompts.render(service, { ...input, id }));
  }
}

@Resolver(() => PromptChange)
export class PromptChangeResolver {
  @FieldResolver(() => Prompt, {
    nullable: true,
    description: 'The prompt; null if it was deleted.',
  })
  prompt(@Root() { promptId }: PromptChange, @Ctx() { loaders }: GraphqlContext): Promise<Prompt | null> {
    return loaders.prompts.load(promptId);
  }
}
