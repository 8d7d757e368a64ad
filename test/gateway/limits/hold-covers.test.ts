import { runAudit } from '../../../src/services/audit/audit.service.js';
import { jobContext } from '../../jobs/support.js';
import { balanceOf, createTestKey, type TestKey, usageOf } from '../../support/edge.js';
import { useEdge } from '../../support/edge-suite.js';
import { chat, embeddings, type Script } from '../../support/scripted-upstream.js';

const FLOOR = 0.001;
const PARALLEL = 16;

/** An account with little money sends many calls at once. */
describe('parallel calls whose size does not reveal their cost', () => {
  const suite = useEdge();

  const post = async (path: string, { key }: TestKey, body: object): Promise<number> => {
    const response = await fetch(suite.edge.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    });
    await response.arrayBuffer();
    return response.status;
  };

  /** The balance that is left, the dearest call and the violations that the audit finds. */
  const flood = async (path: string, script: Script, balance: string, body: object) => {
    const payer = await createTestKey(suite.db, { balance });
    suite.upstream.answer(script);
    const statuses = await Promise.all(Array.from({ length: PARALLEL }, () => post(path, payer, body)));
    await suite.edge.settled();
    const costs = (await usageOf(suite.db, payer.accountId)).map(({ cost }) => Number(cost));
    return {
      statuses,
      left: Number(await balanceOf(suite.db, payer.accountId)),
      dearest: Math.max(...costs),
    };
  };

  test('embeddings of many inputs overspend by one call at most', async () => {
    const inputs = Array.from({ length: 20 }, () => 'a '.repeat(4_000));
    const answer = embeddings({ usage: { prompt_tokens: 20 * 8_000, total_tokens: 20 * 8_000 } });
    const body = { model: 'gateway/embed', input: inputs };
    const { statuses, left, dearest } = await flood('/v1/embeddings', answer, '0.012', body);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0);
    expect(new Set(statuses)).toEqual(new Set([200, 402]));
    expect(dearest).toBeCloseTo(0.008, 9);
    expect(left).toBeGreaterThanOrEqual(FLOOR - dearest);
  });

  test('chats with images of a short address overspend by one call at most', async () => {
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: 'https://images.example/1' } },
    ];
    const script = chat({ usage: { prompt_tokens: 16_000, completion_tokens: 1, total_tokens: 16_001 } });
    const body = { model: 'gateway/qwen-pro', messages: [{ role: 'user', content }], max_tokens: 1 };
    const { statuses, left, dearest } = await flood('/v1/chat/completions', script, '0.006', body);
    expect(new Set(statuses)).toEqual(new Set([200, 402]));
    expect(left).toBeGreaterThanOrEqual(FLOOR - dearest);
  });

  test.each([
    ['sounds in a few bytes', { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }],
    ['images known only by their type', { type: 'image', source: { type: 'base64', data: 'AAAA' } }],
    ['images without a type', { image: 'data:,' }],
  ])('chats with %s overspend by one call at most', async (_what, part) => {
    const script = chat({ usage: { prompt_tokens: 16_000, completion_tokens: 1, total_tokens: 16_001 } });
    const messages = [{ role: 'user', content: [part] }];
    const body = { model: 'gateway/qwen-pro', messages, max_tokens: 1 };
    const { statuses, left, dearest } = await flood('/v1/chat/completions', script, '0.006', body);
    expect(statuses).toContain(402);
    expect(left).toBeGreaterThanOrEqual(FLOOR - dearest);
  });

  test('a chat never gets media that a node has cached from another call', async () => {
    const payer = await createTestKey(suite.db);
    const seen = suite.upstream.seen.length;
    for (const type of ['image_pil', 'image_url', 'input_audio', 'video_url']) {
      const content = [{ type, [type]: null, uuid: 'a' }];
      const body = { model: 'gateway/fast', messages: [{ role: 'user', content }] };
      expect(await post('/v1/chat/completions', payer, body)).toBe(400);
    }
    expect(suite.upstream.seen).toHaveLength(seen);
  });

  test('the audit finds no violation after all these calls', async () => {
    const { context } = jobContext(suite.db.orm);
    expect((await runAudit(context)).filter(({ violations }) => violations > 0)).toEqual([]);
  });

  test('an answer without usage is charged for max_tokens at most', async () => {
    const payer = await createTestKey(suite.db);
    suite.upstream.answer(chat({ usage: undefined }));
    const body = { model: 'gateway/fast', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1 };
    expect(await post('/v1/chat/completions', payer, body)).toBe(200);
    await suite.edge.settled();
    expect(await usageOf(suite.db, payer.accountId)).toMatchObject([{ estimated: true, output_tokens: 1 }]);
  });

  test('embeddings without usage are charged for all of their inputs', async () => {
    const { key, accountId } = await createTestKey(suite.db);
    suite.upstream.answer(embeddings());
    const input = Array.from({ length: 10 }, () => 'word '.repeat(1_600));
    expect(
      await post('/v1/embeddings', { key, accountId, keyId: '' }, { model: 'gateway/embed', input }),
    ).toBe(200);
    await suite.edge.settled();
    const [usage] = await usageOf(suite.db, accountId);
    expect(usage).toMatchObject({ estimated: true, anomalous: false });
    expect(usage!.input_tokens).toBeGreaterThanOrEqual(20_000);
  });
});
