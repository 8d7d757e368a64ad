import { requireViewer, type ServiceContext } from '../../context.js';
import { notifyPrompts } from '../../db/invalidation.js';
import { Prompt } from '../../entities/prompts/prompt.js';
import type {
  ConnectionPage,
  SequenceConnectionInput,
  TimeConnectionInput,
} from '../../lib/connection-input.js';
import { newId } from '../../lib/ids.js';
import { type Pieces, readInPieces } from '../../lib/in-pieces.js';
import type { PageInput } from '../../lib/page-input.js';
import { uuidsOf } from '../../lib/uuid.js';
import { requireActing, writeAsViewer } from '../accounts/acting.js';
import { idOf, notFound } from '../not-found.js';
import { noPrompt, noVersion } from './missing.js';
import { appendVersion, changePrompt, moveActive, refuse } from './prompt-changes.js';
import { listActivationsOf, pageVersionsOf } from './prompt-relations.store.js';
import type {
  AddPromptVersionInput,
  CreatePromptInput,
  DiffPromptInput,
  ListPromptsInput,
  RenderPromptInput,
  UpdatePromptInput,
} from './prompts.inputs.js';
import type {
  PromptActivationOutput,
  PromptDiffOutput,
  PromptOutput,
  PromptVersionOutput,
  RenderedPromptOutput,
} from './prompts.outputs.js';
import { freeSlug, MAX_PROMPTS, slugOf } from './prompts.rules.js';
import {
  findPrompt,
  findPrompts,
  findVersion,
  findVersions,
  listActivations,
  pagePrompts,
  promptWhere,
  sizePrompts,
  sizeVersions,
  takenSlugs,
  toVersion,
} from './prompts.store.js';
import { changedVariables, fill } from './versions.rules.js';
import { wordDiff } from './word-diff.js';

/** Names a prompt by id or slug; for a change, also the revision on which it is based. */
interface PromptRef {
  id: string;
  expected_revision?: number | null | undefined;
}

/**
 * The viewer's prompts. Those of other accounts are not found. Nothing is cached: every process renders the current
 * version in the database.
 */
export function createPromptsService() {
  const requirePrompt = async (context: ServiceContext, ref: string): Promise<Prompt> => {
    const prompt = await findPrompt(context.em, requireViewer(context).accountId, ref);
    if (!prompt) throw noPrompt();
    return prompt;
  };

  const read = async (context: ServiceContext, id: string): Promise<PromptOutput> => {
    const [prompt] = await findPrompts(context.em, requireViewer(context).accountId, [id]);
    if (!prompt) throw noPrompt();
    return prompt;
  };

  const requireVersion = async (context: ServiceContext, prompt: Prompt, version: number) => {
    const found = await findVersion(context.em, prompt.id, { version });
    if (!found) throw noVersion({ version });
    return found;
  };

  return {
    /**
     * Creates a prompt whose first version is active.
     * @throws AppError `validation_error` when the account has the maximum number of prompts.
     */
    async create(context: ServiceContext, input: CreatePromptInput): Promise<PromptOutput> {
      const viewer = requireViewer(context);
      const { accountId } = viewer;
      const id = newId();
      const now = new Date(context.clock.now());
      await context.em.transactional(async (em) => {
        await requireActing(em, viewer);
        const taken = await takenSlugs(em, accountId);
        if (taken.size >= MAX_PROMPTS) {
          refuse(`An account can have at most ${MAX_PROMPTS} prompts. Delete one that you no longer need.`);
        }
        const prompt = em.create(Prompt, {
          id,
          accountId,
          slug: freeSlug(slugOf(input.name), taken),
          name: input.name,
          description: input.description ?? null,
          activeVersion: 1,
          lastVersion: 0,
          characters: 0,
          createdAt: now,
          updatedAt: now,
        });
        await appendVersion({ em, prompt, now }, input);
        await notifyPrompts(em, accountId);
      });
      return read(context, id);
    },

    /** Newest first. */
    async list(context: ServiceContext, input: ListPromptsInput): Promise<Pieces<PromptOutput>> {
      const { accountId } = requireViewer(context);
      const entries = await sizePrompts(context.em, { accountId, ...input });
      return readInPieces(entries, (ids) => findPrompts(context.em, accountId, ids));
    },

    /** A page of the viewer's prompts by cursor. */
    async page(
      context: ServiceContext,
      input: TimeConnectionInput & { search?: string | null | undefined },
    ): Promise<ConnectionPage<PromptOutput>> {
      return pagePrompts(context.em, { accountId: requireViewer(context).accountId, ...input });
    },

    /** The prompts of these ids that are the viewer's, newest first. */
    async findMany(context: ServiceContext, ids: readonly string[]): Promise<PromptOutput[]> {
      return findPrompts(context.em, requireViewer(context).accountId, uuidsOf(ids));
    },

    /** A prompt by id or slug. @throws AppError `not_found` */
    async get(context: ServiceContext, { id }: PromptRef): Promise<PromptOutput> {
      return read(context, (await requirePrompt(context, id)).id);
    },

    /** A prompt with all versions. @throws AppError `not_found` */
    async detail(
      context: ServiceContext,
      { id }: PromptRef,
    ): Promise<{ prompt: PromptOutput; versions: Pieces<PromptVersionOutput> }> {
      const prompt = await this.get(context, { id });
      const entries = await sizeVersions(context.em, prompt.id);
      const versions = await readInPieces(entries, async (ids) =>
        (await findVersions(context.em, prompt.id, ids)).map(toVersion),
      );
      return { prompt, versions };
    },

    /** The same page of versions of several prompts, newest first. Prompts that aren't the viewer's are absent. */
    async versionsPages(
      context: ServiceContext,
      { ids, ...page }: { ids: readonly string[] } & SequenceConnectionInput,
    ): Promise<Map<string, ConnectionPage<PromptVersionOutput>>> {
      const { accountId } = requireViewer(context);
      return pageVersionsOf(context.em, { accountId, ids: uuidsOf(ids), ...page });
    },

    /**
     * Changes the fields in the input. The slug never changes.
     * @throws AppError `not_found`, also for a version of another prompt, `changed_meanwhile`
     */
    async update(context: ServiceContext, input: UpdatePromptInput & { id: string }): Promise<PromptOutput> {
      const { accountId } = requireViewer(context);
      const target = { accountId, ref: input.id, expected: input.expected_revision };
      const id = await changePrompt(context, target, async (change) => {
        const { prompt, em } = change;
        if (input.name !== undefined) prompt.name = input.name;
        if (input.description !== undefined) prompt.description = input.description;
        if (input.active_version_id !== undefined) {
          const version = await findVersion(em, prompt.id, { id: input.active_version_id });
          if (!version) throw notFound('prompt version');
          await moveActive(change, version.version, accountId);
        }
        return { changed: true, result: prompt.id };
      });
      return read(context, id);
    },

    /** Deletes a prompt with its versions. @throws AppError `not_found` */
    async remove(context: ServiceContext, { id }: PromptRef): Promise<void> {
      const { accountId } = requireViewer(context);
      await writeAsViewer(context, async (em) => {
        const deleted = await em.nativeDelete(Prompt, promptWhere(accountId, id));
        if (deleted === 0) throw noPrompt();
        await notifyPrompts(em, accountId);
      });
    },

    /**
     * Adds a version without making it active.
     * @throws AppError `not_found`, `validation_error` when the prompt or the account has reached a limit
     */
    async addVersion(
      context: ServiceContext,
      { id, ...input }: AddPromptVersionInput & { id: string },
    ): Promise<PromptVersionOutput> {
      const { accountId } = requireViewer(context);
      return changePrompt(context, { accountId, ref: id, grows: true }, async (change) => {
        const version = await appendVersion(change, input);
        return { changed: true, result: toVersion(version) };
      });
    },

    /** Makes a version the active one. @throws AppError `not_found`, `changed_meanwhile` */
    async activate(context: ServiceContext, input: PromptRef & { vid: string }): Promise<PromptOutput> {
      const { accountId } = requireViewer(context);
      const versionId = idOf(input.vid, 'prompt version');
      const target = { accountId, ref: input.id, expected: input.expected_revision };
      const id = await changePrompt(context, target, async (change) => {
        const version = await findVersion(change.em, change.prompt.id, { id: versionId });
        if (!version) throw notFound('prompt version');
        const changed = await moveActive(change, version.version, accountId);
        return { changed, result: change.prompt.id };
      });
      return read(context, id);
    },

    /**
     * Undoes the last activation, by activating the previous version again. @throws AppError `not_found`,
     * `validation_error`, `changed_meanwhile`
     */
    async undoActivation(context: ServiceContext, input: PromptRef): Promise<PromptOutput> {
      const { accountId } = requireViewer(context);
      const target = { accountId, ref: input.id, expected: input.expected_revision };
      const id = await changePrompt(context, target, async (change) => {
        const [last] = await listActivations(change.em, change.prompt.id, { limit: 1, offset: 0 });
        if (!last) refuse('No version was activated yet, so there is nothing to undo.');
        const changed = await moveActive(change, last.from_version, accountId);
        return { changed, result: change.prompt.id };
      });
      return read(context, id);
    },

    /** Activations of a prompt, newest first. @throws AppError `not_found` */
    async activations(
      context: ServiceContext,
      { id, ...page }: { id: string } & PageInput,
    ): Promise<PromptActivationOutput[]> {
      return listActivations(context.em, (await requirePrompt(context, id)).id, page);
    },

    /** The latest activations of several prompts. Prompts without any, or that aren't the viewer's, are absent. */
    async lastActivations(
      context: ServiceContext,
      { ids, limit }: { ids: readonly string[]; limit: number },
    ): Promise<Map<string, PromptActivationOutput[]>> {
      const { accountId } = requireViewer(context);
      return listActivationsOf(context.em, { accountId, ids: uuidsOf(ids), limit });
    },

    /**
     * Renders the active version.
     * @throws AppError `not_found`, `missing_variables` with all names, `validation_error` when the result is too
     * large
     */
    async render(
      context: ServiceContext,
      { id, variables = new Map() }: { id: string } & RenderPromptInput,
    ): Promise<RenderedPromptOutput> {
      const { active_version: version } = await this.get(context, { id });
      return fill(version, variables);
    },

    /** The differences between two versions, by their numbers. @throws AppError `not_found` */
    async diff(context: ServiceContext, input: { id: string } & DiffPromptInput): Promise<PromptDiffOutput> {
      const prompt = await requirePrompt(context, input.id);
      const from = await requireVersion(context, prompt, input.from);
      const to = await requireVersion(context, prompt, input.to);
      return {
        from_version: from.version,
        to_version: to.version,
        content: wordDiff(from.content, to.content),
        ...changedVariables(from.variables, to.variables),
        config_changed: JSON.stringify(toVersion(from).config) !== JSON.stringify(toVersion(to).config),
      };
    },
  };
}
