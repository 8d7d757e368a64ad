import { createRegistry } from '../../src/lib/metrics.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { callHead, Heard } from '../support/heard.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';
import { type Script, type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';
import { routes } from './routes.js';
import { newKey } from './support.js';

const MIB = 2 ** 20;
const CALLS = 40;
const SHARED_BYTES = 16 * MIB;
const DATA = [{ index: 0, embedding: [1] }];
const ANSWER = Buffer.from(JSON.stringify({ model: 'node', data: DATA, padding: 'x'.repeat(3 * MIB) }));
const PASSED_BYTES = ANSWER.length + 'gateway/embed'.length - 'node'.length;

/** 120 MiB that arrive at once, in a proxy that keeps 19. */
describe(`${CALLS} large answers of one account`, () => {
  const registry = createRegistry('proxy');
  let db: TestDatabase;
  let node: ScriptedUpstream;
  let proxy: TestProxy;
  let key: string;
  /** Each sends the rest of an answer. */
  let rests: (() => void)[];
  beforeAll(async () => {
    db = await createTestDatabase();
    node = await startScriptedUpstream();
    const config = routes([{ model: 'gateway/embed', id: 'embed', url: node.url }]);
    proxy = await startTestProxy(db, { config, registry, answerBytes: SHARED_BYTES });
    key = await newKey(proxy, 'greedy');
  });
  afterAll(async () => {
    await proxy.close();
    await node.close();
    await db.close();
  });
  beforeEach(() => {
    rests = [];
    node.answer(answer);
  });

  /** Nine tenths of the answer for now, where that is asked for. */
  const answer: Script = ({ body }, response) => {
    const most = body.includes('held') ? Math.floor(0.9 * ANSWER.length) : ANSWER.length;
    response.on('error', () => undefined);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': ANSWER.length });
    response.write(ANSWER.subarray(0, most));
    if (most === ANSWER.length) response.end();
    else rests.push(() => response.end(ANSWER.subarray(most)));
  };
  const bodyOf = (input: string): string => JSON.stringify({ model: 'gateway/embed', input });
  const call = async (token: string, input: string, signal?: AbortSignal): Promise<[number, number]> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: bodyOf(input), signal: signal ?? null };
    const response = await fetch(`${proxy.url}/v1/embeddings`, init);
    let bytes = 0;
    for await (const chunk of response.body!) bytes += (chunk as Uint8Array).length;
    return [response.status, bytes];
  };
  const usedBytes = async (): Promise<number> =>
    (await registry.getSingleMetric('proxy_answer_bytes')!.get()).values[0]!.value;
  /** Once nothing more comes. */
  const standing = async (): Promise<number> => {
    let last = 0;
    await until(
      async () => {
        const before = last;
        last = await usedBytes();
        return rests.length === CALLS && last > SHARED_BYTES / 2 && last === before;
      },
      { intervalMs: 100 },
    );
    return last;
  };

  test('wait if there is no room for them, delay no other account, and arrive whole', async () => {
    const calls = Array.from({ length: CALLS }, () => call(key, 'held'));
    const used = await standing();
    expect(used).toBeLessThanOrEqual(SHARED_BYTES + ANSWER.length + 128 * 1024);

    const other = await newKey(proxy, 'other');
    expect(await call(other, 'at once')).toEqual([200, PASSED_BYTES]);
    const heard = new Heard();
    const head = callHead({ authorization: `Bearer ${other}`, endpoint: 'embeddings' });
    heard.handle = proxy.upstream.call(head, Buffer.from(bodyOf('at once')), heard);
    await heard.done();
    expect([heard.head?.status, heard.bytes]).toEqual([200, PASSED_BYTES]);
    await until(async () => (await usedBytes()) === used);

    for (const rest of rests) rest();
    expect(await Promise.all(calls)).toEqual(Array.from({ length: CALLS }, () => [200, PASSED_BYTES]));
    await until(async () => (await usedBytes()) === 0);
    // None was tried again.
    expect(node.seen).toHaveLength(CALLS + 2);
  });

  test('release their memory when their callers leave', async () => {
    const leaving = new AbortController();
    const calls = Array.from({ length: CALLS }, () => call(key, 'held', leaving.signal));
    const left = Promise.allSettled(calls);
    await standing();
    leaving.abort();
    await left;
    await until(async () => (await usedBytes()) === 0);
    expect(await call(key, 'at once')).toEqual([200, PASSED_BYTES]);
  });
});
