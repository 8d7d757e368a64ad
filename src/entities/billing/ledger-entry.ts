import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../lib/ids.js';

export type LedgerKind = 'starter' | 'topup' | 'grant' | 'usage' | 'adjustment';

/** One movement of an account's money. Immutable: a trigger refuses UPDATE, DELETE and TRUNCATE. */
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
    /** 1, 2, 3, … per account, without a gap. */
    seq: p.bigint(),
    kind: p.text().$type<LedgerKind>(),
    /** Signed dollars. */
    amount: p.decimal().precision(24).scale(12),
    balanceAfter: p.decimal().precision(24).scale(12),
    /** The usage event that this entry charges. */
    eventId: p.uuid().nullable(),
    /** Unique per account for ever: `grant:{account}:{plan}:{YYYY-MM}` or the caller's Idempotency-Key. */
    idempotencyKey: p.text().nullable(),
    description: p.text().nullable(),
    /** Price snapshot of a usage charge, dollars per million tokens. */
    priceIn: p.decimal().precision(24).scale(12).nullable(),
    priceOut: p.decimal().precision(24).scale(12).nullable(),
    createdAt: p.datetime(6).onCreate(() => new Date()),
  },
});

export class LedgerEntry extends LedgerEntrySchema.class {}
LedgerEntrySchema.setClass(LedgerEntry);
