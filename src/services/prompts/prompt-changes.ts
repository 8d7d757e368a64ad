import type { EntityManager } from '@mikro-orm/postgresql';
import type { ServiceContext } from '../../context.js';
import { notifyPrompts } from '../../db/invalidation.js';
import { UNTRACKED } from '../../db/untracked.js';
import { Model } from '../../entities/billing/model.js';
import { Prompt } from '../../entities/prompts/prompt.js';
import { PromptActivation } from '../../entities/prompts/prompt-activation.js';
import { PromptVersion } from '../../entities/prompts/prompt-version.js';
import { AppError } from '../../errors.js';
import { ofWholeInput } from '../../lib/field-issues.js';
import { newId } from '../../lib/ids.js';
import { writeAsViewer } from '../accounts/acting.js';
import { noPrompt } from './missing.js';
import type { AddPromptVersionInput } from './prompts.inputs.js';
import {
  charactersOf,
  MAX_ACCOUNT_CHARACTERS,
  MAX_PROMPT_CHARACTERS,
  MAX_VERSION_CHARACTERS,
  MAX_VERSIONS,
} from './prompts.rules.js';
import { charactersOfPrompts, lockPrompt, lockPromptsOwner, trimActivations } from './prompts.store.js';

/** What a change of one prompt is made with. */
export interface PromptTransaction {
  em: EntityManager;
  /** Locked: whoever changes the same prompt waits. What is changed on it is written at the end. */
  prompt: Prompt;
  now: Date;
}

/** A prompt of an account, by id or slug. */
interface PromptTarget {
  accountId: string;
  ref: string;
  /** The revision that the change is based on. */
  expected?: number | null | undefined;
  /** Whether a version is appended. */
  grows?: true;
}

/**
 * Changes a prompt under its lock, raises its revision if `change` says that something changed, and tells who follows.
 * @throws AppError `not_found`, and `changed_meanwhile` when it isn't at the revision that was expected.
 */
export async function changePrompt<Result>(
  context: ServiceContext,
  { accountId, ref, expected, grows }: PromptTarget,
  change: (change: PromptTransaction) => Promise<{ changed: boolean; result: Result }>,
): Promise<Result> {
  return writeAsViewer(context, async (em) => {
    // Before the prompt, in the order in which an account is deleted.
    if (grows) await lockPromptsOwner(em, accountId);
    const prompt = await lockPrompt(em, accountId, ref);
    if (!prompt) throw noPrompt();
    if (expected !== null && expected !== undefined && expected !== prompt.revision) {
      throw new AppError('changed_meanwhile');
    }
    const now = new Date(context.clock.now());
    const { changed, result } = await change({ em, prompt, now });
    if (changed) {
      prompt.revision++;
      prompt.updatedAt = now;
      await notifyPrompts(em, accountId);
    }
    await em.flush();
    return result;
  });
}

/**
 * Appends a version, which isn't active by that. The account is locked.
 * @throws AppError `validation_error` when the prompt or the account has as much as it may have, or the model is unknown.
 */
export async function appendVersion(
  { em, prompt, now }: PromptTransaction,
  input: AddPromptVersionInput,
): Promise<PromptVersion> {
  if (prompt.lastVersion >= MAX_VERSIONS) {
    refuse(`A prompt can have at most ${MAX_VERSIONS} versions. Create another prompt.`);
  }
  const added = charactersOf(input);
  if (added > MAX_VERSION_CHARACTERS) {
    refuse(
      `A version can have at most ${MAX_VERSION_CHARACTERS} characters: content, notes and variables together. Shorten the defaults or descriptions of its variables.`,
    );
  }
  const characters = prompt.characters + added;
  if (characters > MAX_PROMPT_CHARACTERS) {
    refuse(
      `The versions of a prompt can have at most ${MAX_PROMPT_CHARACTERS} characters together. Create another prompt.`,
    );
  }
  const used = await charactersOfPrompts(em, prompt.accountId);
  if (used + added > MAX_ACCOUNT_CHARACTERS) {
    refuse(
      `The prompts of an account can have at most ${MAX_ACCOUNT_CHARACTERS} characters together. Yours have ${used}, and this version ${added}. Delete prompts that you no longer need.`,
    );
  }
  await requireModel(em, input.config?.model_public_name);
  prompt.lastVersion++;
  prompt.characters = characters;
  return em.create(PromptVersion, {
    id: newId(),
    promptId: prompt.id,
    version: prompt.lastVersion,
    content: input.content,
    variables: input.variables,
    config: input.config ?? null,
    notes: input.notes ?? null,
    createdAt: now,
  });
}

/** Moves the active version and notes who did. False when it was active already. */
export async function moveActive(
  { em, prompt, now }: PromptTransaction,
  version: number,
  byAccountId: string,
): Promise<boolean> {
  if (prompt.activeVersion === version) return false;
  em.create(PromptActivation, {
    promptId: prompt.id,
    // The one that this change makes.
    revision: prompt.revision + 1,
    fromVersion: prompt.activeVersion,
    toVersion: version,
    byAccountId,
    at: now,
  });
  prompt.activeVersion = version;
  await em.flush();
  await trimActivations(em, prompt.id);
  return true;
}

async function requireModel(em: EntityManager, publicName: string | null | undefined): Promise<void> {
  if (publicName === null || publicName === undefined) return;
  const model = await em.findOne(Model, { publicName, kind: 'chat' }, UNTRACKED);
  if (model) return;
  const details = [{ field: 'config.model_public_name', message: 'must be the public name of a chat model' }];
  throw new AppError('validation_error', { details });
}

/** @throws AppError `validation_error` */
export function refuse(message: string): never {
  throw new AppError('validation_error', { message, details: ofWholeInput(message) });
}
