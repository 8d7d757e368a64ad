import type { EntityManager } from '@mikro-orm/postgresql';
import type { TimePosition } from '../../lib/connection-input.js';
import { csvLine } from '../../lib/csv.js';
import { keepingOwner } from '../../lib/work-owner.js';
import { usageItemOutput } from './billing.outputs.js';
import { toUsageItem, type UsageColumns, usageRowsAfter } from './usage.store.js';
import type { UsageSelection } from './usage-filter.rules.js';

/** Events in memory at a time. */
const PAGE = 1_000;

const columns = usageItemOutput.keyof().options;

const csvOf = (rows: readonly UsageColumns[]): string =>
  rows
    .map((row) => {
      const item = toUsageItem(row);
      return csvLine(columns.map((column) => item[column]));
    })
    .join('');

/**
 * The selected usage of an account as CSV, newest first, in pieces of a page; the next is read when the last was taken. The
 * first page is read at once, so that a database that is away is told before anything was sent.
 */
export async function exportUsage(
  em: EntityManager,
  accountId: string,
  selection: UsageSelection,
): Promise<AsyncIterable<string>> {
  // The socket that drains asks for the next page: it is still the work of the one who exports.
  const read = keepingOwner((after?: TimePosition) =>
    usageRowsAfter(em, accountId, { after, selection, limit: PAGE }),
  );
  const first = await read();
  return (async function* pieces() {
    yield csvLine(columns);
    for (let page = first; page.length > 0; ) {
      yield csvOf(page);
      if (page.length < PAGE) return;
      const last = page.at(-1)!;
      page = await read({ createdUs: last.created_us, id: last.id });
    }
  })();
}
