import { seedCatalog } from '../../src/db/seed.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

describe('the seed of plans and models', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.close());

  const seed = () => db.orm.em.fork().transactional((em) => seedCatalog(em));
  const read = async () => ({
    plans: (await db.pool.query('select * from plans order by position')).rows,
    models: (await db.pool.query('select * from models order by position')).rows,
  });

  test('adds missing rows and updates the others, except fields that operators set', async () => {
    const seeded = await read();
    expect([seeded.plans.length, seeded.models.length]).toEqual([5, 6]);
    await db.pool.query(
      `update plans set included_credits_usd = 3, allowed_models = '{}', requests_per_minute = 7;
       update models set upstream_model = 'x', context_window = 9, is_featured = not is_featured;
       delete from plans where id = 'team'; delete from models where public_name = 'gateway/embed'`,
    );
    await seed();
    const again = await read();
    expect(again.plans).toEqual(seeded.plans);
    expect(again.models).toEqual(
      seeded.models.map((model) => ({
        ...model,
        is_featured: model.public_name === 'gateway/embed' ? model.is_featured : !model.is_featured,
      })),
    );
    await seed();
    expect(await read()).toEqual(again);
  });
});
