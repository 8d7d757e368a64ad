import type pg from 'pg';
import type { Invalidation } from '../../../src/db/invalidation.js';
import { DatabaseContact } from '../../../src/inference/database-contact.js';
import type { KeyRow } from '../../../src/inference/keys/key.store.js';
import { type KeyEntry, MAX_CACHED_KEYS } from '../../../src/inference/keys/key-cache.js';
import { Payers } from '../../../src/inference/payers.js';
import type { CachedPayer, PayerRow, RowCache } from '../../../src/inference/row-cache.js';
import type { WidgetRow } from '../../../src/inference/widgets/widget.store.js';
import { MAX_CACHED_WIDGETS, type WidgetEntry } from '../../../src/inference/widgets/widget-cache.js';
import type { Clock } from '../../../src/lib/clock.js';
import { createEnvelope, sha256 } from '../../../src/lib/crypto.js';
import { createLogger } from '../../../src/lib/logger.js';
import { DOLLAR } from '../../../src/lib/money.js';
import type { TestDatabase } from '../../support/database.js';
import { createTestKey } from '../../support/edge.js';
import { TEST_SECRETS } from '../../support/secrets.js';
import { createTestWidget } from '../../widgets/edge-support.js';

export const openPayers = (pool: pg.Pool, clock: Clock): Payers =>
  new Payers({
    pool,
    envelope: createEnvelope('virtual-key', TEST_SECRETS.ENCRYPTION_KEY),
    clock,
    log: createLogger('test', 'silent'),
    contact: new DatabaseContact(clock),
  });

/** A payer in the database. */
export interface TestPayer {
  id: string;
  accountId: string;
  /** What its cache knows it by. */
  name: string;
}

/** What the tests of the cache run over. */
export interface Kind<Row extends PayerRow = PayerRow, Entry extends CachedPayer = CachedPayer> {
  kind: 'key' | 'widget';
  max: number;
  batch: number;
  cacheOf(payers: Payers): RowCache<Row, Entry>;
  make(db: Pick<TestDatabase, 'pool'>, accountId?: string): Promise<TestPayer>;
  /** Statement that makes the limit of the payer `$1` a dollar higher. */
  raiseLimit: string;
  /** That limit in dollars. */
  limitOf(entry: CachedPayer): number;
  /** Statement that gives the account `$1` as many as `$2`; their names are `nameOf(1)` and so on. */
  makeMany: string;
  nameOf(i: number): string;
}

const dollars = (limit: bigint | null): number => Number((limit ?? 0n) / DOLLAR);

const KEY: Kind<KeyRow, KeyEntry> = {
  kind: 'key',
  max: MAX_CACHED_KEYS,
  batch: 500,
  cacheOf: ({ keys }) => keys,
  async make(db, accountId) {
    const made = await createTestKey(db, accountId === undefined ? {} : { accountId });
    return { id: made.keyId, accountId: made.accountId, name: sha256(made.key).toString('hex') };
  },
  raiseLimit: 'update api_keys set daily_limit_usd = coalesce(daily_limit_usd, 0) + 1 where id = $1',
  limitOf: ({ dailyLimit }) => dollars(dailyLimit),
  makeMany: `insert into api_keys (id, account_id, name, key_prefix, last_four, key_hash, status, created_at)
    select gen_random_uuid(), $1, 'many', 'sk-pr-many', 'many', sha256(('key ' || i)::bytea), 'active', now()
    from generate_series(1, $2::int) i`,
  nameOf: (i) => sha256(`key ${i}`).toString('hex'),
};

const WIDGET: Kind<WidgetRow, WidgetEntry> = {
  kind: 'widget',
  max: MAX_CACHED_WIDGETS,
  batch: 200,
  cacheOf: ({ widgets }) => widgets,
  async make(db, accountId) {
    const made = await createTestWidget(db, accountId === undefined ? {} : { accountId });
    return { id: made.id, accountId: made.accountId, name: made.publicKey };
  },
  raiseLimit: 'update widgets set monthly_limit_usd = coalesce(monthly_limit_usd, 0) + 1 where id = $1',
  limitOf: (entry) => dollars((entry as WidgetEntry).row.monthlyLimit),
  makeMany: `insert into widgets (id, account_id, public_key, name, model_public_name, greeting_message, placeholder,
      primary_color, position, allowed_domains, rate_limit_per_minute, daily_message_limit, verified_history,
      loop_detection, created_at, updated_at)
    select gen_random_uuid(), $1, 'many ' || i, 'many', 'gateway/fast', '', '', '#0b5563', 'bottom-right', '{}', 10, 200,
      false, false, now(), now()
    from generate_series(1, $2::int) i`,
  nameOf: (i) => `many ${i}`,
};

export const KINDS: Kind[] = [KEY, WIDGET];

/** What the platform announces when it changes a payer. */
export const changeOf = ({ kind }: Kind, { id, accountId }: TestPayer): Invalidation => ({
  kind,
  id,
  accountId,
});
