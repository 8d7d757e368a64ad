import type { EntityManager } from '@mikro-orm/postgresql';
import { UNTRACKED } from '../../db/untracked.js';
import { Model } from '../../entities/billing/model.js';
import { Prompt } from '../../entities/prompts/prompt.js';
import { AppError } from '../../errors.js';
import { isUuid } from '../../lib/ids.js';
import { findById } from '../accounts/accounts.store.js';
import { findPlan } from '../accounts/users.store.js';
import type { UpdateWidgetInput } from './widgets.inputs.js';

/**
 * Whether the models that a widget names are chat models of the account's plan, and its prompt one of the account's.
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
  if (models.length > 0) await requireModels(em, accountId, models);
  if (prompt_id == null) return;
  const prompt = isUuid(prompt_id) && (await em.findOne(Prompt, { id: prompt_id, accountId }, UNTRACKED));
  if (!prompt)
    throw new AppError('not_found', { message: 'There is no prompt with this ID.', param: 'prompt_id' });
}

async function requireModels(
  em: EntityManager,
  accountId: string,
  models: readonly [field: string, name: string][],
): Promise<void> {
  const account = await findById(em, accountId);
  const plan = account && (await findPlan(em, account.planId));
  if (!plan) throw new AppError('unauthorized');
  for (const [field, name] of models) {
    if (!plan.allowedModels.includes(name)) {
      const message = `Your plan (${plan.id}) doesn't include the model "${name.slice(0, 100)}".`;
      throw new AppError('model_not_allowed', { message, param: field });
    }
    const model = await em.findOne(Model, { publicName: name }, UNTRACKED);
    if (model?.kind !== 'chat') invalid(field, 'must be the public name of a chat model');
  }
}

function invalid(field: string, message: string): never {
  throw new AppError('validation_error', { details: [{ field, message }] });
}
