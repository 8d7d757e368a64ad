import type { ServiceContext } from '../../context.js';
import { type Envelope, openOrNothing } from '../../lib/crypto.js';
import { signingSecretField } from '../alerts/alerts.rules.js';
import { accountVirtualKeyField, dataKeyField, virtualKeyField } from './keys.rules.js';
import { countOldSeals, listOldSeals, replaceSeals, type SealedColumn } from './reseal.store.js';

/** Rows per statement, so that nobody waits for long. */
const BATCH = 200;
const LOWEST_ID = '00000000-0000-0000-0000-000000000000';

export interface ResealDeps {
  envelopes: { virtualKey: Envelope; dataKey: Envelope; alertSecret: Envelope };
  /** Rows per batch. */
  batch?: number;
}

export interface ResealResult {
  /** Sealed again with the current key in this run. */
  resealed: number;
  /** Still sealed with the previous key, which is needed until this is 0. */
  left: number;
  /** Opened by neither key, or damaged. */
  unreadable: number;
}

interface Field extends SealedColumn {
  envelope: Envelope;
  /** Associated data of the row. */
  fieldOf(id: string): string;
}

/**
 * Seals everything again that isn't sealed with the current ENCRYPTION_KEY, in batches, while the product runs. A row
 * is readable at every moment, and concurrent changes win. Any number of processes may run it at once.
 */
export async function resealAll(
  context: ServiceContext,
  { envelopes, batch = BATCH }: ResealDeps,
): Promise<ResealResult> {
  const fields: Field[] = [
    {
      table: 'api_keys',
      column: 'virtual_key_sealed',
      envelope: envelopes.virtualKey,
      fieldOf: virtualKeyField,
    },
    {
      table: 'accounts',
      column: 'virtual_key_sealed',
      envelope: envelopes.virtualKey,
      fieldOf: accountVirtualKeyField,
    },
    { table: 'accounts', column: 'data_key_sealed', envelope: envelopes.dataKey, fieldOf: dataKeyField },
    {
      table: 'alert_subscriptions',
      column: 'signing_secret_sealed',
      envelope: envelopes.alertSecret,
      fieldOf: signingSecretField,
    },
  ];
  const total: ResealResult = { resealed: 0, left: 0, unreadable: 0 };
  for (const field of fields) {
    const one = await resealField(context, field, batch);
    total.resealed += one.resealed;
    total.left += one.left;
    total.unreadable += one.unreadable;
  }
  return total;
}

async function resealField({ em }: ServiceContext, field: Field, limit: number): Promise<ResealResult> {
  const { envelope, fieldOf } = field;
  const { prefix } = envelope;
  let resealed = 0;
  let unreadable = 0;
  for (let afterId = LOWEST_ID; ; ) {
    const rows = await listOldSeals(em, field, { prefix, afterId, limit });
    const changes = rows.flatMap(({ id, sealed }) => {
      const plain = openOrNothing(envelope, sealed, fieldOf(id));
      return plain ? [{ id, sealed, renewed: envelope.seal(plain, fieldOf(id)) }] : [];
    });
    unreadable += rows.length - changes.length;
    if (changes.length > 0) resealed += await replaceSeals(em, field, changes);
    if (rows.length < limit) break;
    afterId = rows.at(-1)!.id;
  }
  // Counted again: a process with the previous configuration may have sealed more in the meantime.
  const old = await countOldSeals(em, field, prefix);
  return { resealed, left: Math.max(0, old - unreadable), unreadable };
}
