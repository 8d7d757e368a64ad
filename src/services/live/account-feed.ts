import type { ServiceContext } from '../../context.js';
import { formatDecimal } from '../../lib/money.js';
import { ACCOUNT_PARTS, type AccountChangeOutput } from './account-feed.outputs.js';
import { type AccountInstant, accountInstant } from './account-feed.store.js';
import { createAccountStreams } from './account-streams.js';
import type { Signals } from './signals.js';

export interface AccountFeed {
  /**
   * Changes of the viewer's balance, plan and keys, and refused calls, from now on. Changes in quick succession come
   * as one event. Charges of calls are reported by `usageRecorded`, and here only with the next event.
   */
  accountChanged(context: ServiceContext): Promise<AsyncIterableIterator<AccountChangeOutput>>;
}

const NOBODY: AccountInstant = { balance: '0', plan: '', keys: '', refused_calls: '' };

export function createAccountFeed({ signals }: { signals: Signals }): AccountFeed {
  const follow = createAccountStreams<AccountInstant, AccountChangeOutput>({
    onSignal: signals.onAccount,
    readsAtOnce: 1,
    sourceOf: ({ em }, accountId) => {
      const read = async (): Promise<AccountInstant> => (await accountInstant(em, accountId)) ?? NOBODY;
      return {
        begin: read,
        async advance(from) {
          const to = await read();
          const changed = ACCOUNT_PARTS.filter((part) => from[part] !== to[part]);
          return { rows: changed.length === 0 ? [] : [changeOf(to, changed)], to };
        },
        isWhole: () => true,
      };
    },
  });
  return { accountChanged: follow };
}

const changeOf = (
  { balance, plan }: AccountInstant,
  changed: AccountChangeOutput['changed'],
): AccountChangeOutput => ({ changed, balance_usd: formatDecimal(balance), plan_name: plan });
