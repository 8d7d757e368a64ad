import { accountsLoaders } from './accounts/accounts.loaders.js';
import { alertsLoaders } from './alerts/alerts.loaders.js';
import { analyticsLoaders } from './analytics/analytics.loaders.js';
import { billingLoaders } from './billing/billing.loaders.js';
import { keysLoaders } from './keys/keys.loaders.js';
import type { LoaderContext } from './loader-context.js';
import { promptsLoaders } from './prompts/prompts.loaders.js';
import { refusalsLoaders } from './refusals/refusals.loaders.js';

/** The loaders of one operation: each relation is read in one statement, however many ask for it. */
export function createLoaders(context: LoaderContext) {
  return {
    ...accountsLoaders(context),
    ...alertsLoaders(context),
    ...analyticsLoaders(context),
    ...billingLoaders(context),
    ...keysLoaders(context),
    ...promptsLoaders(context),
    ...refusalsLoaders(context),
  };
}

export type Loaders = ReturnType<typeof createLoaders>;
