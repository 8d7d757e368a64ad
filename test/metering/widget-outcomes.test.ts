import type { Pool } from 'pg';
import { newId } from '../../src/lib/ids.js';
import { createLogger } from '../../src/lib/logger.js';
import { RefusedCalls } from '../../src/metering/refused-calls.js';
import { addWidgetOutcomes } from '../../src/metering/widget-outcomes.store.js';
import { deleteWidgets } from '../../src/services/widgets/widgets.store.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';
import { createPayer, type Payer } from './support.js';

const AT = Date.UTC(2030, 0, 20, 12);

describe('the counts of messages to widgets', () => {
  let db: TestDatabase;
  let outcomes: RefusedCalls;
  beforeEach(async () => {
    db = await createTestDatabase();
    outcomes = new RefusedCalls({
      write: (counts) => addWidgetOutcomes(db.pool, counts),
      onWritten: () => undefined,
      onLost: (calls) => expect(calls).toBe(0),
      log: createLogger('test', 'silent'),
      intervalMs: 20,
    });
  });
  afterEach(async () => {
    await outcomes.stop();
    await db.close();
  });

  const count = ({ accountId, widgetId }: Owner) =>
    outcomes.count({ accountId, keyId: widgetId, code: 'answered', model: 'shop.example', at: AT, cost: 5n });
  const messages = async ({ widgetId }: Owner): Promise<number> => {
    const { rows } = await db.pool.query<{ n: number }>(
      'select coalesce(sum(messages), 0)::int as n from widget_site_days where widget_id = $1',
      [widgetId],
    );
    return rows[0]!.n;
  };

  test('a deleted widget gets no counts, so nothing of a deleted account comes back', async () => {
    const [gone, other] = [await createWidget(db.pool), await createWidget(db.pool)];
    await deleteWidgets(db.orm.em.fork(), gone.accountId);
    for (const owner of [gone, other, other]) count(owner);
    await until(async () => (await messages(other)) === 2);
    expect(await messages(gone)).toBe(0);
  });

  test('counts of an account that is being deleted wait without delaying others, and go with it', async () => {
    const [going, other] = [await createWidget(db.pool), await createWidget(db.pool)];
    count(going);
    await until(async () => (await messages(going)) === 1);
    await db.orm.em.fork().transactional(async (em) => {
      await deleteWidgets(em, going.accountId);
      for (const owner of [going, other]) count(owner);
      await until(async () => (await messages(other)) === 1);
    });
    count(other);
    await until(async () => (await messages(other)) === 2);
    expect(await messages(going)).toBe(0);
  });

  test('all counts are written if the account is kept after all', async () => {
    const staying = await createWidget(db.pool);
    const undone = db.orm.em.fork().transactional(async (em) => {
      await deleteWidgets(em, staying.accountId);
      const other = await createWidget(db.pool);
      for (const owner of [staying, other]) count(owner);
      await until(async () => (await messages(other)) === 1);
      throw new Error('rolled back');
    });
    await expect(undone).rejects.toThrow('rolled back');
    await until(async () => (await messages(staying)) === 1);
  });
});

interface Owner extends Pick<Payer, 'accountId'> {
  widgetId: string;
}

async function createWidget(pool: Pool): Promise<Owner> {
  const [{ accountId }, widgetId] = [await createPayer(pool), newId()];
  await pool.query(
    `insert into widgets (id, account_id, public_key, name, model_public_name, greeting_message, placeholder,
       primary_color, position, allowed_domains, rate_limit_per_minute, daily_message_limit, verified_history,
       status, created_at, updated_at)
     values ($1, $2, $3, 'w', 'gateway/fast', '', '', '#000000', 'bottom-right', '{}', 10, 200, false, 'active', now(), now())`,
    [widgetId, accountId, `wgt_${widgetId}`],
  );
  return { accountId, widgetId };
}
