import { request } from 'node:http';
import { newApiKey } from '../../../src/lib/key-form.js';
import { exchange, statusesOf } from '../../hostile/raw.js';
import { createTestKey, errorOf, postChat, usageOf } from '../../support/edge.js';
import { useEdge } from '../../support/edge-suite.js';

/** A call with headers that fetch would not send. */
function rawCall(url: string, headers: [string, string][]): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(`${url}/v1/models`, { method: 'GET', setHost: true }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    call.on('error', reject);
    const names = new Map<string, string[]>();
    for (const [name, value] of headers) names.set(name, [...(names.get(name) ?? []), value]);
    for (const [name, values] of names) call.setHeader(name, values);
    call.end();
  });
}

describe('401 invalid_api_key', () => {
  const suite = useEdge();

  test('answers a key that is unknown though it has the form', async () => {
    const response = await postChat(suite.edge.url, newApiKey());
    expect(response.status).toBe(401);
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(await errorOf(response)).toEqual({
      message: expect.stringContaining('API key'),
      type: 'invalid_request_error',
      param: null,
      code: 'invalid_api_key',
    });
  });

  test('answers a disabled key and an unknown one with the same bytes', async () => {
    const { key } = await createTestKey(suite.db, { status: 'disabled' });
    const disabled = await postChat(suite.edge.url, key);
    const unknown = await postChat(suite.edge.url, newApiKey());
    expect(disabled.status).toBe(401);
    expect(await disabled.text()).toBe(await unknown.text());
  });

  test('answers a key of a disabled account', async () => {
    const { key, accountId } = await createTestKey(suite.db);
    await suite.db.pool.query(`update accounts set status = 'disabled' where id = $1`, [accountId]);
    expect((await postChat(suite.edge.url, key)).status).toBe(401);
  });

  test('answers every malformed credential, also around a key that is good', async () => {
    const { key } = await createTestKey(suite.db);
    const values = [
      '',
      'Bearer',
      'Bearer ',
      key,
      `Basic ${key}`,
      `Bearer  ${key}`,
      `Bearer\t${key}`,
      `Bearer ${key} x`,
      `Bearer ${key},${key}`,
      `Bearer "${key}"`,
      `Bearer ${key.slice(0, -1)}`,
      `Bearer ${key}0`,
      `Bearer ${key.toUpperCase()}`,
      `Bearer sk-pr-${'0'.repeat(46)}`,
      'Bearer sk-pr-',
      `Bearer ${key.replace('sk-pr-', 'sk-')}`,
      `Bearer ${key.slice(0, 20)} ${key.slice(20)}`,
      `Bearer ' or 1=1 --`,
      'Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x',
    ];
    for (const value of values)
      expect([value, await rawCall(suite.edge.url, [['authorization', value]])]).toEqual([value, 401]);
    expect(await rawCall(suite.edge.url, [['authorization', `Bearer ${key}`]])).toBe(200);
  });

  test('answers two credentials, and credentials in another place', async () => {
    const { key } = await createTestKey(suite.db);
    const bearer = `Bearer ${key}`;
    expect(
      await rawCall(suite.edge.url, [
        ['authorization', bearer],
        ['authorization', bearer],
      ]),
    ).toBe(401);
    expect(await rawCall(suite.edge.url, [['x-api-key', key]])).toBe(401);
    expect(await rawCall(suite.edge.url, [['cookie', `pr_session=${key}`]])).toBe(401);
    expect(await rawCall(suite.edge.url, [])).toBe(401);
  });

  test('is answered before a byte of the body is read', async () => {
    const status = await new Promise<number>((resolve, reject) => {
      const call = request(`${suite.edge.url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: 'Bearer nonsense',
          'content-type': 'application/json',
          'content-length': 1_000_000,
        },
      });
      call.on('response', (response) => {
        resolve(response.statusCode!);
        call.destroy();
      });
      call.on('error', reject);
      call.flushHeaders();
    });
    expect(status).toBe(401);
  });

  test("each request of a connection is its own credential's, whatever the one before presented", async () => {
    const [one, other] = [await createTestKey(suite.db), await createTestKey(suite.db)];
    const body = JSON.stringify({ model: 'gateway/fast', messages: [{ role: 'user', content: 'x' }] });
    const call = (...credentials: string[]) =>
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n${credentials.map((key) => `authorization: Bearer ${key}\r\n`).join('')}content-length: ${body.length}\r\n\r\n${body}`;
    const calls = [
      call(one.key),
      call(newApiKey()),
      call(one.key),
      call(one.key, one.key),
      call(other.key),
      call(),
      call(one.key),
    ];
    const { statuses } = await exchange(suite.edge.url, calls.join(''), {
      halfClose: false,
      until: (text) => statusesOf(text).length === calls.length,
    });
    expect(statuses).toEqual([200, 401, 200, 401, 200, 401, 200]);
    await suite.edge.settled();
    expect(await usageOf(suite.db, one.accountId)).toHaveLength(3);
    expect(await usageOf(suite.db, other.accountId)).toHaveLength(1);
  });
});
