import { IsolationLevel } from '@mikro-orm/core';
import { requireViewer, type ServiceContext } from '../../context.js';
import { UNTRACKED } from '../../db/untracked.js';
import { Account } from '../../entities/accounts/account.js';
import { AppError } from '../../errors.js';
import { DAY_MS, dayStart } from '../../lib/clock.js';
import { parseMoney } from '../../lib/money.js';
import { countByDayAndModel } from '../analytics/analytics.store.js';
import { dirtyHoursOf } from '../analytics/dirty-hours-of-account.js';
import type { OutlookOutput } from './outlook.outputs.js';
import { outlookOf } from './outlook.rules.js';

const DAYS = 7;

/** How long the viewer's balance lasts at the recent rate of spending. */
export function createOutlookService() {
  return {
    /** @throws AppError `unauthorized` */
    async outlook(context: ServiceContext): Promise<OutlookOutput> {
      const { accountId } = requireViewer(context);
      const nowMs = context.clock.now();
      const today = dayStart(nowMs);
      const scope = {
        accountId,
        from: new Date(today - (DAYS - 1) * DAY_MS),
        until: new Date(today + DAY_MS),
      };
      // On one snapshot, so that an hour rolled up in the meantime counts once.
      return context.em.fork().transactional(
        async (em) => {
          const account = await em.findOne(
            Account,
            { id: accountId },
            { ...UNTRACKED, fields: ['balance', 'lastCredit'] },
          );
          if (!account) throw new AppError('unauthorized');
          const dirty = await dirtyHoursOf({ em }, accountId);
          const counts = await countByDayAndModel(em, { ...scope, dirty });
          const firstDay = counts.reduce((first, { day }) => (day < first ? day : first), '9999-12-31');
          return outlookOf({
            balance: parseMoney(account.balance),
            lastCredit: account.lastCredit ? parseMoney(account.lastCredit) : null,
            spent: counts.reduce((sum, { cost }) => sum + parseMoney(cost), 0n),
            sinceMs: Math.min(nowMs, Date.parse(firstDay)),
            nowMs,
          });
        },
        { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true },
      );
    },
  };
}
