import { Int } from 'type-graphql';
import { z } from 'zod';
import { uuid } from '../../lib/output-fields.js';
import { idOrText } from '../../lib/uuid.js';
import {
  createKeyInput,
  expectedKeyInput,
  keyDaysInput,
  keyGuardInput,
  keysConnectionInput,
  keysSearchInput,
  undoGuardInput,
  updateKeyInput,
} from '../../services/keys/keys.inputs.js';
import { createdKeyOutput, keyOutput } from '../../services/keys/keys.outputs.js';
import { User, Viewer } from '../accounts/accounts.types.js';
import { toGraphql, toGraphqlAs } from '../case.js';
import { type Connection, connectionArgs, pageCost, toConnection } from '../connections.js';
import type { GraphqlContext } from '../context.js';
import { enumOf } from '../enum-of.js';
import { field, mutation } from '../fields.js';
import { checked } from '../input.js';
import { Decimal } from '../scalars.js';
import { inputType } from '../zod-fields.js';
import { ApiKey, ApiKeyConnection, ApiKeyGuardAction, ApiKeyUsageDay } from './keys.types.js';

const keyId = z.object({ id: uuid('API key ID.') });
const changedKey = z.object({ api_key: keyOutput.describe('The updated API key.') });

const { search, order_by } = keysSearchInput.shape;
enumOf('ApiKeyOrder', 'Order of API keys.', order_by.unwrap(), {
  created: 'Newest first.',
  name: 'By name, A to Z.',
  spend: 'Highest spend of this month first.',
  used: 'Most recently used first.',
});

const { monthly_limit_usd, daily_limit_usd, guard, expected } = updateKeyInput.shape;
const ApiKeyGuardInput = inputType('ApiKeyGuardInput', keyGuardInput, { action: ApiKeyGuardAction });
const ExpectedApiKeyInput = inputType('ExpectedApiKeyInput', expectedKeyInput, {
  monthlyLimitUsd: Decimal,
  dailyLimitUsd: Decimal,
  guard: ApiKeyGuardInput,
});

async function changed({ services, service }: GraphqlContext, id: string, change: object) {
  const input = checked(updateKeyInput, change);
  return toGraphqlAs('apiKey', services.keys.update(service, { ...input, id }));
}

const keyMutations = [
  mutation('createApiKey', 'session', {
    description:
      'Creates an API key. The response contains the full secret, which is shown only once. At most 100 keys per account.',
    input: createKeyInput.describe('A new API key.'),
    argument: 'The key.',
    payload: createdKeyOutput,
    run: ({ services, service }, input) =>
      toGraphql(services.keys.create(service, checked(createKeyInput, input))),
  }),
  mutation('renameApiKey', 'session', {
    description: 'Renames an API key.',
    input: keyId.extend({ ...createKeyInput.shape, expected }).describe('An API key and its new name.'),
    inputTypes: { expected: ExpectedApiKeyInput },
    argument: 'The key and its new name.',
    payload: changedKey.describe('The renamed API key.'),
    run: (context, { id, ...renamed }) => changed(context, id, renamed),
  }),
  mutation('setApiKeyLimits', 'session', {
    description: 'Sets or removes the spending limits of an API key.',
    input: keyId
      .extend({ monthly_limit_usd, daily_limit_usd, expected })
      .describe('Spending limits of an API key. Omitted limits keep their value; null removes a limit.'),
    inputTypes: { monthlyLimitUsd: Decimal, dailyLimitUsd: Decimal, expected: ExpectedApiKeyInput },
    argument: 'Key and limits.',
    payload: changedKey.describe('The API key with its new limits.'),
    run: (context, { id, ...limits }) => changed(context, id, limits),
  }),
  mutation('setApiKeyGuard', 'session', {
    description:
      'Sets or removes the guard of an API key. A guard that is set can act again this month, and acts at once if its percentage is reached.',
    input: keyId
      .extend({ guard: guard.unwrap(), expected })
      .describe('An API key and its guard. Null removes the guard.'),
    inputTypes: { guard: ApiKeyGuardInput, expected: ExpectedApiKeyInput },
    argument: 'Key and guard.',
    payload: changedKey.describe('The API key with its new guard.'),
    run: (context, { id, ...change }) => changed(context, id, change),
  }),
  mutation('undoApiKeyGuard', 'session', {
    description:
      "Undoes the action of an API key's guard for the rest of the UTC month. If it has not acted, nothing changes.",
    input: keyId.extend({ expected }).describe('The API key whose guard to undo.'),
    inputTypes: { expected: ExpectedApiKeyInput },
    argument: 'The key.',
    payload: changedKey.describe('The API key whose guard was undone.'),
    run: ({ services, service }, { id, ...basis }) =>
      toGraphqlAs('apiKey', services.keys.undoGuard(service, { ...checked(undoGuardInput, basis), id })),
  }),
  mutation('enableApiKey', 'session', {
    description: 'Enables a disabled API key.',
    input: keyId.describe('The API key to enable.'),
    argument: 'The key.',
    payload: changedKey.describe('The enabled API key.'),
    run: (context, { id }) => changed(context, id, { status: 'active' }),
  }),
  mutation('disableApiKey', 'session', {
    description: 'Disables an API key. Calls with it are rejected within a second.',
    input: keyId.describe('The API key to disable.'),
    argument: 'The key.',
    payload: changedKey.describe('The disabled API key.'),
    run: (context, { id }) => changed(context, id, { status: 'disabled' }),
  }),
  mutation('deleteApiKey', 'session', {
    description: 'Deletes an API key and its virtual key. Calls with it are rejected immediately.',
    input: keyId.describe('The API key to delete.'),
    argument: 'The key.',
    payload: z
      .object({ deleted_api_key_id: uuid('ID of the deleted API key.') })
      .describe('The result of a deletion.'),
    run: async ({ services, service }, { id }) => {
      await services.keys.remove(service, { id });
      return { deletedApiKeyId: idOrText(id) };
    },
  }),
];

/** A page with the search of its list. */
interface KeysPage extends Connection<InstanceType<typeof ApiKey>> {
  search: string | null | undefined;
}

/** API keys of the signed-in account, and fields that need a query. */
export const keysResolvers = [
  ...keyMutations,
  field(Viewer, 'apiKeys', ApiKeyConnection, {
    description: 'API keys of the account.',
    complexity: pageCost,
    args: connectionArgs.extend({ search, order_by }),
    run: async ({ services, service }, args): Promise<KeysPage> => {
      const page = await services.keys.page(service, checked(keysConnectionInput, args));
      return { ...(await toConnection(page, args)), search: args.search };
    },
  }),
  field(Viewer, 'apiKey', ApiKey, {
    nullable: true,
    description: 'One API key of the account.',
    args: keyId,
    run: ({ services, service }, { id }) => toGraphql(services.keys.get(service, { id })),
  }),
  field(ApiKeyConnection, 'foundCount', Int, {
    description: 'Number of API keys that match the search.',
    run: ({ services, service }, _args, page) => services.keys.countFound(service, (page as KeysPage).search),
  }),
  field(ApiKeyConnection, 'totalCount', Int, {
    description: 'Number of API keys of the account.',
    run: ({ services, service }) => services.keys.count(service),
  }),
  field(ApiKey, 'owner', User, {
    description: 'The account that owns the key.',
    run: ({ service, loaders }) => loaders.users.load(service.viewer!.accountId),
  }),
  field(ApiKey, 'usageByDay', [ApiKeyUsageDay], {
    description: 'Spend per UTC day, oldest first. Days without calls are included with 0.',
    complexity: ({ args, childComplexity }) => 1 + Math.min(Math.max(args.days, 1), 90) * childComplexity,
    args: keyDaysInput,
    run: ({ loaders }, args, { id }) => loaders.keyDays.load({ id, ...checked(keyDaysInput, args) }),
  }),
];
