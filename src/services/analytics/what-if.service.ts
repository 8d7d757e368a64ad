import { IsolationLevel } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { requireViewer, type ServiceContext } from '../../context.js';
import { UNTRACKED } from '../../db/untracked.js';
import { Model } from '../../entities/billing/model.js';
import { AppError } from '../../errors.js';
import { DAY_MS, dayStart } from '../../lib/clock.js';
import type { Endpoint } from '../../metering/usage-record.js';
import { ownsKey } from '../keys/keys.store.js';
import { idOf, notFound } from '../not-found.js';
import { ownsVersion } from '../prompts/prompts.store.js';
import type { Scope } from './analytics.store.js';
import { dirtyHoursOf } from './dirty-hours-of-account.js';
import type { WhatIfInput } from './what-if.inputs.js';
import type { WhatIfOutput } from './what-if.outputs.js';
import { priceOn } from './what-if.rules.js';
import { type ChargedCalls, chargedOfScope, chargedOfVersion } from './what-if.store.js';

const endpointOf = ({ kind }: Model): Endpoint => (kind === 'chat' ? 'chat' : 'embeddings');

/** The cost of the viewer's calls if another model had served them. */
export function createWhatIfService() {
  return {
    /**
     * @throws AppError `not_found` for a key or version that isn't the viewer's; `validation_error` for an unknown
     * model, and when all calls are of the other kind
     */
    async estimate(context: ServiceContext, input: WhatIfInput): Promise<WhatIfOutput> {
      const { accountId } = requireViewer(context);
      const { model: name, window_days: windowDays } = input;
      const keyId = input.key_id ? idOf(input.key_id, 'API key') : undefined;
      const versionId = input.prompt_version_id ? idOf(input.prompt_version_id, 'prompt version') : undefined;
      const today = dayStart(context.clock.now());
      const scope: Scope = {
        accountId,
        ...(keyId && { keyIds: [keyId] }),
        from: new Date(today - (windowDays - 1) * DAY_MS),
        until: new Date(today + DAY_MS),
        dirty: await dirtyHoursOf(context, accountId),
      };
      const read = async (em: EntityManager): Promise<WhatIfOutput> => {
        const models = new Map(
          (await em.find(Model, {}, UNTRACKED)).map((model) => [model.publicName, model]),
        );
        const model = models.get(name);
        if (!model) throw unfit('must be the public name of a model');
        if (keyId && !(await ownsKey(em, { accountId, keyId }))) throw notFound('API key');
        if (versionId && !(await ownsVersion(em, accountId, versionId))) throw notFound('prompt version');
        const endpointOfModel = (served: string): Endpoint | undefined => {
          const found = models.get(served);
          return found && endpointOf(found);
        };
        const calls = versionId
          ? await chargedOfVersion(em, scope, versionId, endpointOfModel)
          : await chargedOfScope(em, scope, endpointOfModel);
        requireKind(calls, endpointOf(model));
        const { publicName, inputPricePerMillionUsd, outputPricePerMillionUsd } = model;
        return priceOn(
          {
            publicName,
            endpoint: endpointOf(model),
            inputPrice: inputPricePerMillionUsd,
            outputPrice: outputPricePerMillionUsd,
          },
          windowDays,
          calls,
        );
      };
      // On one snapshot, so that an hour rolled up in the meantime counts once.
      return context.em.fork().transactional(read, {
        isolationLevel: IsolationLevel.REPEATABLE_READ,
        readOnly: true,
      });
    },
  };
}

/**
 * Chat is compared with chat and embeddings with embeddings: a window with only calls of the other kind is an error.
 */
function requireKind(calls: readonly ChargedCalls[], endpoint: Endpoint): void {
  if (calls.length > 0 && calls.every((call) => call.endpoint !== endpoint)) {
    throw unfit(
      endpoint === 'chat'
        ? 'is a chat model, but all of these calls are embeddings'
        : 'is an embedding model, but all of these calls are chat completions',
    );
  }
}

const unfit = (message: string): AppError =>
  new AppError('validation_error', { details: [{ field: 'model', message }] });
