import { balanceOf, createTestKey, postChat, usageOf } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { checkInvariants } from '../support/invariants.js';
import { chat } from '../support/scripted-upstream.js';

describe('a chat call that succeeds', () => {
  const suite = useEdge();
  beforeEach(() => suite.upstream.answer(chat()));

  test('is charged exactly tokens × price ÷ 1,000,000, once, under its request id', async () => {
    const { accountId, keyId, key } = await createTestKey(suite.db);
    const response = await postChat(suite.edge.url, key);
    expect(response.status).toBe(200);
    await response.arrayBuffer();
    await suite.edge.settled();
    const rows = await usageOf(suite.db, accountId);
    expect(rows).toEqual([
      expect.objectContaining({
        id: response.headers.get('x-request-id'),
        key_id: keyId,
        requested_model: 'gateway/fast',
        served_model: 'gateway/fast',
        endpoint: 'chat',
        stream: false,
        input_tokens: 12,
        output_tokens: 34,
        // 12 × $0.10 + 34 × $0.30 per million.
        cost: '0.000011400000',
        status: 'success',
        error_code: null,
        http_status: 200,
        client_aborted: false,
        estimated: false,
        anomalous: false,
      }),
    ]);
    expect(await balanceOf(suite.db, accountId)).toBe('0.999988600000');
    const spend = await suite.db.pool.query('select spend::text from key_spend_days where key_id = $1', [
      keyId,
    ]);
    expect(spend.rows).toEqual([{ spend: '0.000011400000' }]);
  });

  test("reaches the upstream with the virtual key and the caller's body, byte for byte, and nothing else of the caller", async () => {
    const { key } = await createTestKey(suite.db, { virtualKey: 'sk-virtual-7' });
    const body =
      '{ "model" : "gateway/fast",\n "messages":[{"role":"user","content":"Grüße 😀"}], "documents": [1, 2.50, null] }';
    await postChat(suite.edge.url, key, body, {
      'x-litellm-tags': 'a',
      'x-pass-api-key': 'b',
      cookie: 'c=d',
      'x-custom': 'e',
    });
    const seen = suite.upstream.seen.at(-1)!;
    expect(seen.body).toBe(body);
    expect(seen.headers.authorization).toBe('Bearer sk-virtual-7');
    expect(Object.keys(seen.headers).sort()).toEqual([
      'accept',
      'accept-encoding',
      'authorization',
      'connection',
      'content-length',
      'content-type',
      'host',
      'x-request-id',
    ]);
  });

  test("is answered byte for byte, without the upstream's headers", async () => {
    const { key } = await createTestKey(suite.db);
    const answer =
      '{"model":"gateway/fast" , "choices":[ {"message":{"tool_calls":[{"function":{"arguments":"{\\"a\\":1}"}}]}} ],"usage":{"prompt_tokens":1,"completion_tokens":1},"timings":{"y":[1.0]}}';
    suite.upstream.answer((_request, response) =>
      response
        .writeHead(200, {
          'content-type': 'application/json',
          'x-litellm-model-api-base': 'http://10.0.0.5:8000',
          server: 'uvicorn',
          'set-cookie': 'a=b',
          'llm_provider-x': 'y',
        })
        .end(answer),
    );
    const response = await postChat(suite.edge.url, key);
    expect(await response.text()).toBe(answer);
    expect([...response.headers.keys()].sort()).toEqual([
      'cache-control',
      'connection',
      'content-length',
      'content-type',
      'date',
      'keep-alive',
      'x-content-type-options',
      'x-ratelimit-limit-requests',
      'x-ratelimit-remaining-requests',
      'x-ratelimit-reset-requests',
      'x-request-id',
    ]);
    expect(response.headers.get('x-ratelimit-limit-requests')).toBe('1000');
  });

  test("that another model served is charged at that model's price, and both are recorded", async () => {
    const { accountId, key } = await createTestKey(suite.db);
    suite.upstream.answer(chat({ model: 'gateway/qwen-fast' }));
    const response = await postChat(suite.edge.url, key, { model: 'gateway/qwen-pro' });
    expect(await response.json()).toMatchObject({ model: 'gateway/qwen-fast' });
    await suite.edge.settled();
    expect(await usageOf(suite.db, accountId)).toEqual([
      expect.objectContaining({
        requested_model: 'gateway/qwen-pro',
        served_model: 'gateway/qwen-fast',
        cost: '0.000011400000',
      }),
    ]);
  });

  test('that an upstream answers under an internal name gets the public name, and its price', async () => {
    const { accountId, key } = await createTestKey(suite.db);
    suite.upstream.answer(chat({ model: 'Qwen/Qwen3-32B-AWQ', system_fingerprint: 'keep' }));
    const response = await postChat(suite.edge.url, key, { model: 'gateway/qwen-pro' });
    expect(await response.json()).toMatchObject({ model: 'gateway/qwen-pro', system_fingerprint: 'keep' });
    await suite.edge.settled();
    expect(await usageOf(suite.db, accountId)).toEqual([
      // 12 × $0.50 + 34 × $1.50 per million.
      expect.objectContaining({ served_model: 'gateway/qwen-pro', cost: '0.000057000000' }),
    ]);
  });

  test('made by many at once is charged once each, and the books agree', async () => {
    const { accountId, key } = await createTestKey(suite.db);
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => postChat(suite.edge.url, key, { max_tokens: 50 })),
    );
    expect(answers.map((answer) => answer.status)).toEqual(Array(100).fill(200));
    await Promise.all(answers.map((answer) => answer.arrayBuffer()));
    await suite.edge.settled();
    const ids = (await usageOf(suite.db, accountId)).map((row) => row.id).sort();
    expect(ids).toEqual(answers.map((answer) => answer.headers.get('x-request-id')).sort());
    expect(await balanceOf(suite.db, accountId)).toBe('0.998860000000');
    expect(await checkInvariants(suite.db.pool)).toEqual([]);
  });
});
