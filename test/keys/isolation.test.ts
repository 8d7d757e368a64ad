import { newId } from '../../src/lib/ids.js';
import { contextOf, insertAccount } from '../billing/fixtures.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type KeyProxy, keysServiceAt, startKeyProxy } from './fixtures.js';

describe("another account's key", () => {
  let db: TestDatabase;
  let proxy: KeyProxy;
  beforeAll(async () => {
    db = await createTestDatabase();
    proxy = await startKeyProxy();
  });
  afterAll(async () => {
    await db.close();
    await proxy.close();
  });

  test('is answered like a missing one, on every operation, and stays unchanged', async () => {
    const keys = keysServiceAt(proxy.url);
    const owner = contextOf(db, await insertAccount(db));
    const stranger = contextOf(db, await insertAccount(db));
    const { api_key } = await keys.create(owner, { name: 'mine' });
    for (const id of [api_key.id, newId(), 'no-uuid', '', `${api_key.id}0`]) {
      const answers = await Promise.allSettled([
        keys.get(stranger, { id }),
        keys.update(stranger, { id, name: 'stolen' }),
        keys.remove(stranger, { id }),
      ]);
      for (const answer of answers) {
        expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'not_found', status: 404 } });
      }
    }
    expect(await keys.list(stranger, { limit: 50, offset: 0 })).toEqual([]);
    expect(await keys.get(owner, { id: api_key.id })).toEqual(api_key);
    expect(proxy.keys.size).toBe(1);
  });

  test('is refused without a session', async () => {
    const keys = keysServiceAt(proxy.url);
    const nobody = contextOf(db, null);
    await expect(keys.create(nobody, { name: 'a' })).rejects.toMatchObject({ code: 'unauthorized' });
    await expect(keys.update(nobody, { id: newId(), name: 'a' })).rejects.toMatchObject({
      code: 'unauthorized',
    });
    await expect(keys.remove(nobody, { id: newId() })).rejects.toMatchObject({ code: 'unauthorized' });
    await expect(keys.list(nobody, { limit: 50, offset: 0 })).rejects.toMatchObject({ code: 'unauthorized' });
    await expect(keys.get(nobody, { id: newId() })).rejects.toMatchObject({ code: 'unauthorized' });
  });
});
