import type { EntityManager } from '@mikro-orm/postgresql';
import { UNTRACKED } from '../../db/untracked.js';
import { Prompt } from '../../entities/prompts/prompt.js';
import { AppError } from '../../errors.js';
import { uuidOf } from '../../lib/uuid.js';
import { requireChatModels } from '../billing/plan-models.js';
import type { UpdateWidgetInput } from './widgets.inputs.js';
import { lockPromptForWidget } from './widgets.store.js';

/**
 * Checks that a widget's models are chat models of the account's plan, and its prompt one of the account's.
 * @throws AppError `model_not_allowed`, `validation_error`, `not_found` for a prompt
 */
export async function requireReferences(
  em: EntityManager,
  accountId: string,
  { model_public_name, fallback_model_public_name, prompt_id }: UpdateWidgetInput,
): Promise<void> {
  const models = Object.entries({ model_public_name, fallback_model_public_name }).filter(
    (entry): entry is [string, string] => entry[1] != null,
  );
  if (models.length > 0) await requireChatModels(em, accountId, models);
  if (prompt_id == null) return;
  const id = uuidOf(prompt_id);
  const prompt = id && (await em.findOne(Prompt, { id, accountId }, UNTRACKED));
  if (!prompt) throw noPrompt();
}

/**
 * Checks the prompt again in the transaction that saves the widget, which may come seconds later. Locks the prompt
 * against deletion.
 * @throws AppError `not_found`
 */
export async function requirePromptStill(
  em: EntityManager,
  accountId: string,
  promptId: string | null | undefined,
): Promise<void> {
  if (promptId != null && !(await lockPromptForWidget(em, accountId, promptId))) throw noPrompt();
}

const noPrompt = (): AppError =>
  new AppError('not_found', { message: 'There is no prompt with this ID.', param: 'prompt_id' });
