import type { EntityManager } from '@mikro-orm/postgresql';
import { csvLine } from '../../lib/csv.js';
import { keepingOwner } from '../../lib/work-owner.js';
import type { LedgerExportInput } from './billing.inputs.js';
import { ledgerEntryOutput } from './billing.outputs.js';
import { type LedgerKinds, ledgerRowsAfter, toLedgerEntry } from './ledger-list.store.js';

/** Entries in memory at a time. */
const PAGE = 1_000;

const columns = ledgerEntryOutput.keyof().options;
const KINDS = { all: undefined, credits: 'credits', charges: 'charges' } as const;

/** The ledger of an account as CSV, newest first, piece by piece as `exportUsage` does it. */
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
    yield csvLine(columns);
    for (let page = first; page.length > 0; ) {
      yield page
        .map((row) => {
          const entry = toLedgerEntry(row);
          return csvLine(columns.map((column) => entry[column]));
        })
        .join('');
      if (page.length < PAGE) return;
      page = await read(String(page.at(-1)!.seq));
    }
  })();
}
