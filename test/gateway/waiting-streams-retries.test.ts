import { routes } from '../proxy/routes.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { createTestKey, postChat, startTestEdge, type TestEdge, usageOf } from '../support/edge.js';
import { startTestRouter, type TestRouter } from '../support/router.js';
import {
  FULL_STREAM,
  raw,
  type ScriptedUpstream,
  startScriptedUpstream,
  stream,
} from '../support/scripted-upstream.js';
import { ANSWER, bounds, held, waiting, withoutComments } from './waiting-stream.js';

describe('a stream whose node fails after comments', () => {
  let db: TestDatabase;
  let node: ScriptedUpstream;
  let other: ScriptedUpstream;
  let router: TestRouter;
  let edge: TestEdge;
  let virtualKey: string;
  beforeAll(async () => {
    db = await createTestDatabase();
    node = await startScriptedUpstream();
    other = await startScriptedUpstream();
    router = await startTestRouter(db, {
      config: routes(
        [
          { model: 'gateway/fast', id: 'node-0', url: node.url },
          { model: 'gateway/fast', id: 'node-1', url: node.url },
          { model: 'gateway/qwen-pro', id: 'node-2', url: node.url },
          { model: 'gateway/qwen-fast', id: 'node-3', url: other.url },
        ],
        {
          ...{ num_retries: 1, retry_after: 0, allowed_fails: 1 },
          fallbacks: [{ 'gateway/qwen-pro': ['gateway/qwen-fast'] }],
        },
      ),
    });
    virtualKey = await router.newKey();
    edge = await startTestEdge(db, { models: router, bounds });
  });
  afterAll(async () => {
    await edge.close();
    await router.close();
    await other.close();
    await node.close();
    await db.close();
  });

  test('is retried at another node, whose answer is charged', async () => {
    const caller = await createTestKey(db, { virtualKey });
    let calls = 0;
    const release = held(node, (request, response) =>
      (++calls === 1 ? raw(500, '{}') : stream(FULL_STREAM))(request, response),
    );
    const { whole } = await waiting(await postChat(edge.url, caller.key, { stream: true }));
    release();
    expect(withoutComments(await whole)).toBe(ANSWER);
    await edge.settled();
    expect(await usageOf(db, caller.accountId)).toEqual([
      expect.objectContaining({ status: 'success', cost: '0.000011400000' }),
    ]);
  });

  test('is answered by the fallback model, whose price is charged', async () => {
    const caller = await createTestKey(db, { virtualKey });
    other.answer(stream(FULL_STREAM));
    const release = held(node, raw(500, '{}'));
    const body = { model: 'gateway/qwen-pro', stream: true };
    const { whole } = await waiting(await postChat(edge.url, caller.key, body));
    release();
    expect(withoutComments(await whole)).toBe(ANSWER.replaceAll('gateway/fast', 'gateway/qwen-fast'));
    await edge.settled();
    expect(await usageOf(db, caller.accountId)).toMatchObject([
      { requested_model: 'gateway/qwen-pro', served_model: 'gateway/qwen-fast', status: 'success' },
    ]);
  });
});
