import { createTestKey, errorOf, postChat } from '../../support/edge.js';
import { useEdge } from '../../support/edge-suite.js';

describe('503 upstream_unconfigured', () => {
  const suite = useEdge();

  test('answers a key without a virtual key, tells what to do and SDKs not to retry', async () => {
    const { key } = await createTestKey(suite.db, { virtualKey: null });
    const response = await postChat(suite.edge.url, key);
    expect(response.status).toBe(503);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await errorOf(response)).toEqual({
      message: expect.stringContaining('create another'),
      type: 'upstream_error',
      param: null,
      code: 'upstream_unconfigured',
    });
    expect(suite.upstream.seen).toHaveLength(0);
  });

  test('answers a key whose virtual key was sealed for another row', async () => {
    const one = await createTestKey(suite.db);
    const other = await createTestKey(suite.db);
    await suite.db.pool.query(
      'update api_keys set virtual_key_sealed = (select virtual_key_sealed from api_keys where id = $1) where id = $2',
      [one.keyId, other.keyId],
    );
    expect((await postChat(suite.edge.url, other.key)).status).toBe(503);
  });
});
