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

/** A prompt that is being changed, and its transaction. */
export interface PromptTransaction {
  em: EntityManager;
  /** Locked: concurrent changes wait. Changes to the entity are written at the end. */
  prompt: Prompt;
  now: Date;
}

/** A prompt of an account, by id or slug. */
interface PromptTarget {
  accountId: string;
  ref: string;
  /** The revision on which the change is based. */
  expected?: number | null | undefined;
  /** Whether the change appends a version. */
  grows?: true;
}

/**
 * Changes a prompt under its lock. If `change` reports a difference, raises the revision and notifies followers.
 * @throws AppError `not_found`, and `changed_meanwhile` when the prompt isn't at the expected revision.
 */
export async function changePrompt<Result>(
  context: ServiceContext,
  { accountId, ref, expected, grows }: PromptTarget,
  change: (change: PromptTransaction) => Promise<{ changed: boolean; result: Result }>,
): Promise<Result> {
  return writeAsViewer(context, async (em) => {
    // Before the prompt, in the same order as the deletion of an account.
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
 * Appends a version without making it active. The account is locked.
 * @throws AppError `validation_error` when the prompt or the account has reached a limit, or the model is unknown.
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

/** Changes the active version and records who did. False when it was active already. */
export async function moveActive(
  { em, prompt, now }: PromptTransaction,
  version: number,
  byAccountId: string,
): Promise<boolean> {
  if (prompt.activeVersion === version) return false;
  em.create(PromptActivation, {
    promptId: prompt.id,
    // The revision after this change.
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
