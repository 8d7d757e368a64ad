import type { EntityManager } from '@mikro-orm/postgresql';
import { UNTRACKED } from '../../db/untracked.js';
import { Model } from '../../entities/billing/model.js';
import { AppError } from '../../errors.js';
import { findById } from '../accounts/accounts.store.js';
import { findPlan } from '../accounts/users.store.js';

/**
 * Checks that the models in an input are chat models of the account's plan.
 * @throws AppError `model_not_allowed`, `validation_error`
 */
export async function requireChatModels(
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
    if (model?.kind === 'chat') continue;
    throw new AppError('validation_error', {
      details: [{ field, message: 'must be the public name of a chat model' }],
    });
  }
}
