import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../lib/ids.js';

export type LedgerKind = 'starter' | 'topup' | 'grant' | 'usage' | 'adjustment';

/**
 * One movement of an account's money, or the charges of the calls between two others (`usage`). Immutable: a trigger refuses
 * UPDATE, DELETE and TRUNCATE. Another one writes the charges before an entry first.
 */
const LedgerEntrySchema = defineEntity({
  name: 'LedgerEntry',
  tableName: 'ledger_entries',
  uniques: [
    { name: 'ledger_entries_account_id_seq_key', properties: ['accountId', 'seq'] },
    {
      name: 'ledger_entries_idempotency',
      properties: ['accountId', 'idempotencyKey'],
      where: 'idempotency_key is not null',
    },
  ],
  indexes: [
    {
      name: 'ledger_entries_credits',
      properties: ['accountId', 'createdAt'],
      where: "kind <> 'usage'",
    },
  ],
  properties: {
    id: p.uuid().primary().onCreate(newId),
    accountId: p.uuid(),
    /** The place among the account's charges and credits; of a `usage` entry, the place of its last charge. */
    seq: p.bigint(),
    kind: p.text().$type<LedgerKind>(),
    /** Signed dollars. */
    amount: p.decimal().precision(24).scale(12),
    balanceAfter: p.decimal().precision(24).scale(12),
    /** The one call that this entry charges, up to version 1.1. */
    eventId: p.uuid().nullable(),
    /** Unique per account for ever: `grant:{account}:{plan}:{YYYY-MM}` or the caller's Idempotency-Key. */
    idempotencyKey: p.text().nullable(),
    description: p.text().nullable(),
    /** The prices of that call, dollars per million tokens. */
    priceIn: p.decimal().precision(24).scale(12).nullable(),
    priceOut: p.decimal().precision(24).scale(12).nullable(),
    createdAt: p.datetime(6).onCreate(() => new Date()),
  },
});

export class LedgerEntry extends LedgerEntrySchema.class {}
LedgerEntrySchema.setClass(LedgerEntry);
