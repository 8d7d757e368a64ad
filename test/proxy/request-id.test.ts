import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';
import { ask } from './support.js';

const ID = '0199d2f0-7a3c-7c1e-8f7e-2a6f1c9b4d10';

describe("the edge's x-request-id", () => {
  let db: TestDatabase;
  let proxy: TestProxy;
  beforeAll(async () => {
    db = await createTestDatabase();
    proxy = await startTestProxy(db, { settings: { numRetries: 0 } });
  });
  afterAll(async () => {
    await proxy.close();
    await db.close();
  });

  const send = (path: string, body: unknown, key: string, id = ID) =>
    fetch(proxy.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-request-id': id },
      body: JSON.stringify(body),
    });
  const chat = '/v1/chat/completions';

  test.each([
    ['a whole answer', chat, ask('[[sim ttft_ms=0]] x'), 200],
    ['a stream', chat, ask('[[sim ttft_ms=0 chunk_ms=0]] x', { stream: true }), 200],
    ['embeddings', '/v1/embeddings', { model: 'gateway/embed', input: 'x' }, 200],
    ["a node's refusal", chat, ask('[[sim status=400]] x'), 400],
    ["a node's failure", chat, ask('[[sim status=500]] x'), 502],
    ['an error for an unknown model', chat, ask('x', { model: 'none' }), 400],
    ['an error for a body that is no object', chat, [], 400],
    ['an error for an unknown path', '/v1/nothing', {}, 404],
  ])('is in %s', async (_what, path, body, status) => {
    const response = await send(path, body, proxy.masterKey);
    await response.text();
    expect([response.status, response.headers.get('x-request-id')]).toEqual([status, ID]);
  });

  test('is in the refusal of a key', async () => {
    const response = await send(chat, ask('x'), 'sk-nobody-0123456789');
    expect([response.status, response.headers.get('x-request-id')]).toEqual([401, ID]);
  });

  test("is left out if it isn't valid", async () => {
    const response = await send(chat, ask('[[sim ttft_ms=0]] x'), proxy.masterKey, 'x'.repeat(300));
    await response.text();
    expect([response.status, response.headers.get('x-request-id')]).toEqual([200, null]);
  });
});
