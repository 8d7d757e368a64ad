import { Arg, Args, Ctx, FieldResolver, Int, Mutation, Resolver, Root } from 'type-graphql';
import {
  createKeyInput,
  keyDaysInput,
  keysConnectionInput,
  updateKeyInput,
} from '../../services/keys/keys.inputs.js';
import type { KeyOutput } from '../../services/keys/keys.outputs.js';
import { Allow } from '../access.js';
import { User, Viewer } from '../accounts/accounts.types.js';
import { camelCased } from '../case.js';
import { type Connection, pageCost, toConnection } from '../connections.js';
import type { GraphqlContext } from '../context.js';
import { checked } from '../input.js';
import {
  ApiKeyArgs,
  ApiKeysArgs,
  CreateApiKeyInput,
  DeleteApiKeyInput,
  DisableApiKeyInput,
  EnableApiKeyInput,
  RenameApiKeyInput,
  SetApiKeyGuardInput,
  SetApiKeyLimitsInput,
  UndoApiKeyGuardInput,
  UsageByDayArgs,
} from './keys.args.js';
import {
  ApiKey,
  ApiKeyConnection,
  ApiKeyUsageDay,
  CreateApiKeyPayload,
  DeleteApiKeyPayload,
  DisableApiKeyPayload,
  EnableApiKeyPayload,
  RenameApiKeyPayload,
  SetApiKeyGuardPayload,
  SetApiKeyLimitsPayload,
  UndoApiKeyGuardPayload,
} from './keys.types.js';

type KeyChange =
  | Omit<RenameApiKeyInput, 'id'>
  | { status: 'active' | 'disabled' }
  | Omit<SetApiKeyLimitsInput, 'id'>
  | Omit<SetApiKeyGuardInput, 'id'>;

async function changed(
  { services, service }: GraphqlContext,
  id: string,
  change: KeyChange,
): Promise<{ apiKey: ApiKey }> {
  const input = checked(updateKeyInput, change);
  return { apiKey: camelCased(await services.keys.update(service, { ...input, id })) };
}

/** Mutations of API keys. */
@Resolver()
class KeysResolver {
  @Allow('session')
  @Mutation(() => CreateApiKeyPayload, {
    description:
      'Creates an API key. The response contains the full secret, which is shown only once. At most 100 keys per account.',
  })
  async createApiKey(
    @Arg('input', { description: 'The key.' }) input: CreateApiKeyInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<CreateApiKeyPayload> {
    return camelCased(await services.keys.create(service, checked(createKeyInput, input)));
  }

  @Allow('session')
  @Mutation(() => RenameApiKeyPayload, { description: 'Renames an API key.' })
  renameApiKey(
    @Arg('input', { description: 'The key and its new name.' }) { id, ...renamed }: RenameApiKeyInput,
    @Ctx() context: GraphqlContext,
  ): Promise<RenameApiKeyPayload> {
    return changed(context, id, renamed);
  }

  @Allow('session')
  @Mutation(() => SetApiKeyLimitsPayload, {
    description: 'Sets or removes the spending limits of an API key.',
  })
  setApiKeyLimits(
    @Arg('input', { description: 'Key and limits.' }) { id, ...limits }: SetApiKeyLimitsInput,
    @Ctx() context: GraphqlContext,
  ): Promise<SetApiKeyLimitsPayload> {
    return changed(context, id, limits);
  }

  @Allow('session')
  @Mutation(() => SetApiKeyGuardPayload, {
    description:
      'Sets or removes the guard of an API key. A guard that is set can act again this month, and acts at once if its percentage is reached.',
  })
  setApiKeyGuard(
    @Arg('input', { description: 'Key and guard.' }) { id, ...guarded }: SetApiKeyGuardInput,
    @Ctx() context: GraphqlContext,
  ): Promise<SetApiKeyGuardPayload> {
    return changed(context, id, guarded);
  }

  @Allow('session')
  @Mutation(() => UndoApiKeyGuardPayload, {
    description:
      'Ends what the guard of an API key has done, for the rest of the UTC month. If it has not acted, nothing changes.',
  })
  async undoApiKeyGuard(
    @Arg('input', { description: 'The key.' }) { id }: UndoApiKeyGuardInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<UndoApiKeyGuardPayload> {
    return { apiKey: camelCased(await services.keys.undoGuard(service, { id })) };
  }

  @Allow('session')
  @Mutation(() => EnableApiKeyPayload, { description: 'Enables a disabled API key.' })
  enableApiKey(
    @Arg('input', { description: 'The key.' }) { id }: EnableApiKeyInput,
    @Ctx() context: GraphqlContext,
  ): Promise<EnableApiKeyPayload> {
    return changed(context, id, { status: 'active' });
  }

  @Allow('session')
  @Mutation(() => DisableApiKeyPayload, {
    description: 'Disables an API key. Calls with it are rejected within a second.',
  })
  disableApiKey(
    @Arg('input', { description: 'The key.' }) { id }: DisableApiKeyInput,
    @Ctx() context: GraphqlContext,
  ): Promise<DisableApiKeyPayload> {
    return changed(context, id, { status: 'disabled' });
  }

  @Allow('session')
  @Mutation(() => DeleteApiKeyPayload, {
    description: 'Deletes an API key and its virtual key. Calls with it are rejected immediately.',
  })
  async deleteApiKey(
    @Arg('input', { description: 'The key.' }) { id }: DeleteApiKeyInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<DeleteApiKeyPayload> {
    await services.keys.remove(service, { id });
    return { deletedApiKeyId: id };
  }
}

/** API keys of the signed-in account. */
@Resolver(() => Viewer)
class ViewerKeysResolver {
  @FieldResolver(() => ApiKeyConnection, {
    description: 'API keys of the account.',
    complexity: pageCost,
  })
  async apiKeys(@Args() args: ApiKeysArgs, @Ctx() { services, service }: GraphqlContext): Promise<KeysPage> {
    const page = await services.keys.page(service, checked(keysConnectionInput, args));
    return { ...toConnection(page, args, camelCased<KeyOutput>), search: args.search };
  }

  @FieldResolver(() => ApiKey, { nullable: true, description: 'One API key of the account.' })
  async apiKey(@Args() { id }: ApiKeyArgs, @Ctx() { services, service }: GraphqlContext): Promise<ApiKey> {
    return camelCased(await services.keys.get(service, { id }));
  }
}

/** A page with what its list was looked through for. */
interface KeysPage extends Connection<ApiKey> {
  search: string | null | undefined;
}

@Resolver(() => ApiKeyConnection)
class ApiKeyConnectionResolver {
  @FieldResolver(() => Int, { description: 'Number of API keys that match the search.' })
  foundCount(@Root() { search }: KeysPage, @Ctx() { services, service }: GraphqlContext): Promise<number> {
    return services.keys.countFound(service, search);
  }

  @FieldResolver(() => Int, { description: 'Number of API keys of the account.' })
  totalCount(@Ctx() { services, service }: GraphqlContext): Promise<number> {
    return services.keys.count(service);
  }
}

/** Fields of an API key that need a query. */
@Resolver(() => ApiKey)
class ApiKeyResolver {
  @FieldResolver(() => User, { description: 'The account that owns the key.' })
  owner(@Ctx() { service, loaders }: GraphqlContext): Promise<User | null> {
    return loaders.users.load(service.viewer!.accountId);
  }

  @FieldResolver(() => [ApiKeyUsageDay], {
    description: 'Spend per UTC day, oldest first. Days without calls are included with 0.',
    complexity: ({ args, childComplexity }) => 1 + Math.min(Math.max(args.days, 1), 90) * childComplexity,
  })
  usageByDay(
    @Root() { id }: ApiKey,
    @Args() args: UsageByDayArgs,
    @Ctx() { loaders }: GraphqlContext,
  ): Promise<ApiKeyUsageDay[]> {
    return loaders.keyDays.load({ id, ...checked(keyDaysInput, args) });
  }
}

/** Every resolver of the domain. */
export const keysResolvers = [
  KeysResolver,
  ViewerKeysResolver,
  ApiKeyConnectionResolver,
  ApiKeyResolver,
] as const;
