import type { EntityManager } from '@mikro-orm/postgresql';
import { requireViewer, type ServiceContext } from '../../context.js';
import { notifyInvalidation } from '../../db/invalidation.js';
import { ApiKey } from '../../entities/keys/api-key.js';
import { AppError } from '../../errors.js';
import { lastDays, utcMonth } from '../../lib/clock.js';
import type { ConnectionPage } from '../../lib/connection-input.js';
import { type Envelope, sha256 } from '../../lib/crypto.js';
import { ofWholeInput } from '../../lib/field-issues.js';
import { newId } from '../../lib/ids.js';
import { newApiKey, shownParts } from '../../lib/key-form.js';
import { formatDecimal, formatMoney, type Money } from '../../lib/money.js';
import type { PageInput } from '../../lib/page-input.js';
import { uuidsOf } from '../../lib/uuid.js';
import { requireActing, requireLive, writeAsViewer } from '../accounts/acting.js';
import { requireChatModels } from '../billing/plan-models.js';
import { idOf, notFound } from '../not-found.js';
import { requireExpectedKey } from './expected-key.js';
import { rearmGuard, setGuard, triggerGuard, undoGuardAction } from './guards.store.js';
import type { CreateKeyInput, ExpectedKeyInput, KeysConnectionInput, UpdateKeyInput } from './keys.inputs.js';
import type { CreatedKeyOutput, KeyDayOutput, KeyOutput } from './keys.outputs.js';
import { MAX_KEYS, virtualKeyAlias, virtualKeyField } from './keys.rules.js';
import {
  countFoundKeys,
  countKeys,
  deleteKey,
  findKey,
  findKeys,
  listKeySpendDays,
  listKeys,
  ownsKey,
  pageKeys,
} from './keys.store.js';
import type { VirtualKeyClient } from './virtual-keys.js';

export interface KeysServiceDeps {
  envelopes: { virtualKey: Envelope };
  virtualKeys: VirtualKeyClient;
}

/** The viewer's API keys. Keys of other accounts and malformed ids are treated as not found. */
export function createKeysService({ envelopes, virtualKeys }: KeysServiceDeps) {
  /**
   * Null if the proxy returns none. The key is created all the same, and its calls fail with `upstream_unconfigured`
   * until it is replaced.
   */
  const generateVirtualKey = async (context: ServiceContext, accountId: string, keyId: string) => {
    try {
      return await virtualKeys.generate({ accountId, alias: virtualKeyAlias(keyId) });
    } catch (error) {
      context.log.warn({ err: error, keyId }, 'a new API key has no virtual key; its calls will be rejected');
      return null;
    }
  };

  const removeVirtualKey = async (context: ServiceContext, keyId: string, read: () => string) => {
    try {
      await virtualKeys.remove([read()]);
    } catch (error) {
      context.log.warn(
        { err: error, keyId },
        'the virtual key of a deleted API key could not be removed from the model proxy',
      );
    }
  };

  return {
    /**
     * Creates a key. Its secret is returned only here. The virtual key is obtained first, so that no row lock waits
     * for the proxy.
     * @throws AppError `validation_error` when the account has the maximum number of keys.
     */
    async create(context: ServiceContext, input: CreateKeyInput): Promise<CreatedKeyOutput> {
      const viewer = requireViewer(context);
      const { accountId } = viewer;
      // Checked before creating a virtual key that nobody could use.
      await requireLive(context.em, viewer);
      requireRoom(await countKeys(context.em, accountId));
      const id = newId();
      const key = newApiKey();
      const now = context.clock.now();
      const virtualKey = await generateVirtualKey(context, accountId, id);
      try {
        await context.em.transactional(async (em) => {
          await requireActing(em, viewer);
          requireRoom(await countKeys(em, accountId));
          const { prefix, lastFour } = shownParts(key);
          em.create(ApiKey, {
            id,
            accountId,
            name: input.name,
            keyPrefix: prefix,
            lastFour,
            keyHash: sha256(key),
            virtualKeySealed: virtualKey && envelopes.virtualKey.seal(virtualKey, virtualKeyField(id)),
            createdAt: new Date(now),
          });
          await em.flush();
          await notifyInvalidation(em, { kind: 'key', id, accountId });
        });
      } catch (error) {
        if (virtualKey) await removeVirtualKey(context, id, () => virtualKey);
        throw error;
      }
      return { key, api_key: await readKey(context.em, accountId, id, now) };
    },

    /** Newest first. */
    async list(context: ServiceContext, page: PageInput): Promise<KeyOutput[]> {
      const { accountId } = requireViewer(context);
      return listKeys(context.em, { accountId, now: context.clock.now(), ...page });
    },

    /** A page of the keys that match a search, in the requested order. */
    async page(context: ServiceContext, input: KeysConnectionInput): Promise<ConnectionPage<KeyOutput>> {
      const { accountId } = requireViewer(context);
      return pageKeys(context.em, { accountId, now: context.clock.now(), ...input });
    },

    /** The number of the viewer's keys. */
    async count(context: ServiceContext): Promise<number> {
      return countKeys(context.em, requireViewer(context).accountId);
    },

    /** The number of the viewer's keys that match a search. */
    async countFound(context: ServiceContext, search: string | null | undefined): Promise<number> {
      return countFoundKeys(context.em, requireViewer(context).accountId, search);
    },

    /** The keys of these ids that are the viewer's, in no particular order. */
    async findMany(context: ServiceContext, ids: readonly string[]): Promise<KeyOutput[]> {
      const { accountId } = requireViewer(context);
      return findKeys(context.em, { accountId, ids: uuidsOf(ids), now: context.clock.now() });
    },

    /** Spend of each of the viewer's keys on the last `days` UTC days including today, oldest first, by key id. */
    async spendByDay(
      context: ServiceContext,
      { ids: named, days }: { ids: readonly string[]; days: number },
    ): Promise<Map<string, KeyDayOutput[]>> {
      const { accountId } = requireViewer(context);
      const ids = uuidsOf(named);
      const window = lastDays(context.clock.now(), days);
      const rows = await listKeySpendDays(context.em, { accountId, ids, firstDay: window[0]! });
      const spends = new Map(rows.map((row) => [`${row.key_id} ${row.day}`, row.spend]));
      const daysOf = (id: string) =>
        window.map((date) => ({ date, cost_usd: formatDecimal(spends.get(`${id} ${date}`) ?? '0') }));
      return new Map(ids.map((id) => [id, daysOf(id)]));
    },

    /** @throws AppError `not_found` */
    async get(context: ServiceContext, { id }: { id: string }): Promise<KeyOutput> {
      return readKey(context.em, requireViewer(context).accountId, id, context.clock.now());
    },

    /**
     * Changes the fields in the input. A limit of null removes it; without a monthly limit the guard's action ends. A
     * guard whose percentage is already reached acts at once.
     * @throws AppError `not_found`, `changed_meanwhile`; `model_not_allowed` or `validation_error` for the model of a
     * guard
     */
    async update(context: ServiceContext, input: UpdateKeyInput & { id: string }): Promise<KeyOutput> {
      const viewer = requireViewer(context);
      const { accountId } = viewer;
      const { guard } = input;
      const id = idOf(input.id, 'API key');
      const now = context.clock.now();
      return writeAsViewer(context, async (em) => {
        const mayAct = guard !== undefined || input.monthly_limit_usd !== undefined;
        // Takes turns with a flush of the account's usage, so that one sees the other.
        if (mayAct) await requireActing(em, viewer);
        if (input.expected) await requireExpectedKey(em, { id, accountId }, input.expected);
        if (!(await changeKey(em, { id, accountId }, changesOf(input, now)))) throw notFound('API key');
        if (guard?.model_public_name)
          await requireChatModels(em, accountId, [[GUARD_MODEL, guard.model_public_name]]);
        if (input.monthly_limit_usd === null) await rearmGuard(em, id);
        if (guard !== undefined) await setGuard(em, id, guard);
        if (mayAct) await triggerGuard(em, id, utcMonth(now));
        await notifyInvalidation(em, { kind: 'key', id, accountId });
        return readKey(em, accountId, id, now);
      });
    },

    /**
     * Undoes what the guard of a key did, for the rest of the month. Nothing changes if it hasn't acted.
     * @throws AppError `not_found`, `changed_meanwhile`
     */
    async undoGuard(
      context: ServiceContext,
      { id: named, expected }: { id: string; expected?: ExpectedKeyInput | undefined },
    ): Promise<KeyOutput> {
      const viewer = requireViewer(context);
      const { accountId } = viewer;
      const id = idOf(named, 'API key');
      const now = context.clock.now();
      return context.em.transactional(async (em) => {
        // Waits for a flush in progress, whose guard may be acting just now.
        await requireActing(em, viewer);
        await readKey(em, accountId, id, now);
        if (expected) await requireExpectedKey(em, { id, accountId }, expected);
        const undone = await undoGuardAction(em, id, utcMonth(now));
        // The transaction may have waited for the row.
        await requireLive(em, viewer);
        if (undone) await notifyInvalidation(em, { kind: 'key', id, accountId });
        return readKey(em, accountId, id, now);
      });
    },

    /**
     * Deletes a key and then, best effort, its virtual key at the model proxy.
     * @throws AppError `not_found`
     */
    async remove(context: ServiceContext, { id: named }: { id: string }): Promise<void> {
      const { accountId } = requireViewer(context);
      const id = idOf(named, 'API key');
      const sealed = await writeAsViewer(context, async (em) => {
        const deleted = await deleteKey(em, { accountId, id, now: context.clock.now() });
        if (deleted === undefined) throw notFound('API key');
        await notifyInvalidation(em, { kind: 'key', id, accountId });
        return deleted;
      });
      if (sealed === null) return;
      await removeVirtualKey(context, id, () =>
        envelopes.virtualKey.open(sealed, virtualKeyField(id)).toString('utf8'),
      );
    },
  };
}

const GUARD_MODEL = 'guard.model_public_name';

/** Changes the row of a key, if there is something to change. False if the account doesn't have the key. */
async function changeKey(
  em: EntityManager,
  { id, accountId }: { id: string; accountId: string },
  changes: ReturnType<typeof changesOf>,
): Promise<boolean> {
  if (Object.keys(changes).length === 0) return ownsKey(em, { accountId, keyId: id });
  return (await em.nativeUpdate(ApiKey, { id, accountId }, changes)) > 0;
}

function requireRoom(keys: number): void {
  if (keys < MAX_KEYS) return;
  const message = `An account has at most ${MAX_KEYS} API keys. Delete one you no longer use.`;
  throw new AppError('validation_error', { message, details: ofWholeInput(message) });
}

async function readKey(em: EntityManager, accountId: string, named: string, now: number): Promise<KeyOutput> {
  const key = await findKey(em, { accountId, id: idOf(named, 'API key'), now });
  if (!key) throw notFound('API key');
  return key;
}

const decimalOrNull = (amount: Money | null): string | null => (amount === null ? null : formatMoney(amount));

function changesOf(input: UpdateKeyInput, now: number) {
  return {
    ...(input.name !== undefined && { name: input.name }),
    ...(input.status !== undefined && { status: input.status }),
    ...(input.monthly_limit_usd !== undefined && {
      monthlyLimitUsd: decimalOrNull(input.monthly_limit_usd),
      monthlyLimitChangedAt: new Date(now),
    }),
    ...(input.daily_limit_usd !== undefined && { dailyLimitUsd: decimalOrNull(input.daily_limit_usd) }),
  };
}
