import type { EntityManager } from '@mikro-orm/postgresql';
import { keepingOwner } from '../../lib/work-owner.js';
import type { LedgerExportInput } from './billing.inputs.js';
import { ledgerEntryOutput, usageItemOutput } from './billing.outputs.js';
import { csvLine } from './csv.js';
import { type LedgerKinds, ledgerRowsAfter, toLedgerEntry } from './ledger-list.store.js';
import { toUsageItem, type UsageColumns } from './usage.store.js';
import type { UsageSelection } from './usage-filter.rules.js';
import { usagePages } from './usage-rows.store.js';

/** Rows in memory at a time. */
const PAGE = 1_000;

const LEDGER_COLUMNS = ledgerEntryOutput.keyof().options;
const KINDS = { all: undefined, credits: 'credits', charges: 'charges' } as const;

/** The ledger of an account as CSV, newest first, in pieces as `exportUsage` does it. */
export async function exportLedger(
  em: EntityManager,
  accountId: string,
  { kind }: LedgerExportInput,
): Promise<AsyncIterable<string>> {
  const kinds: LedgerKinds | undefined = KINDS[kind];
  const read = keepingOwner((after?: string) =>
    ledgerRowsAfter(em, accountId, { after, kinds, limit: PAGE }),
  );
  const first = await read();
  return (async function* pieces() {
    yield csvLine(LEDGER_COLUMNS);
    for (let page = first; page.length > 0; ) {
      yield page
        .map((row) => {
          const entry = toLedgerEntry(row);
          return csvLine(LEDGER_COLUMNS.map((column) => entry[column]));
        })
        .join('');
      if (page.length < PAGE) return;
      page = await read(page.at(-1)!.seq);
    }
  })();
}

const USAGE_COLUMNS = usageItemOutput.keyof().options;

const csvOf = (rows: readonly UsageColumns[]): string =>
  rows
    .map((row) => {
      const item = toUsageItem(row);
      return csvLine(USAGE_COLUMNS.map((column) => item[column]));
    })
    .join('');

/**
 * The selected usage of an account as CSV, newest first, in pieces of one page. The next page is read when the client
 * has taken the last one. The first is read at once, so that an unavailable database is reported before anything was
 * sent.
 */
export async function exportUsage(
  em: EntityManager,
  accountId: string,
  selection: UsageSelection,
): Promise<AsyncIterable<string>> {
  const pages = usagePages(em, accountId, { selection, direction: 'older', limit: PAGE });
  // The next page is requested by a draining socket, but stays the work of the account that exports.
  const read = keepingOwner(() => pages.next());
  const first = await read();
  return (async function* pieces() {
    yield csvLine(USAGE_COLUMNS);
    for (let page = first; !page.done; page = await read()) {
      if (page.value.length > 0) yield csvOf(page.value);
    }
  })();
}
