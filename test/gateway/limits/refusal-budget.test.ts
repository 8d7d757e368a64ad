import { createTestKey, errorOf, postChat } from '../../support/edge.js';
import { useEdge } from '../../support/edge-suite.js';
import { bodyBytesOf, Upload } from '../../support/upload.js';

const MIB = 2 ** 20;

describe('refused calls', () => {
  let now = Date.UTC(2026, 10, 21, 12, 0, 0);
  const suite = useEdge({ clock: { now: () => now } });
  const upload = (key: string, length: number | undefined, asked = true) =>
    Upload.start(suite.edge.url, key, { length, asked });
  const rateOf = (text: string) => ({
    retryAfter: Number(/^retry-after: (\d+)/m.exec(text)?.[1]),
    remaining: /^x-ratelimit-remaining-requests: (\d+)/m.exec(text)?.[1],
    resetSeconds: Number(/^x-ratelimit-reset-requests: ([\d.]+)s/m.exec(text)?.[1]),
  });

  test.each([
    ['an account below the floor', '0', 402, 'insufficient_credits'],
    ['a plan whose minute is full', '1', 429, 'rate_limit_exceeded'],
  ])('a body above 64 KiB is refused unread for %s', async (_who, balance, status, code) => {
    const { key } = await createTestKey(suite.db, { balance, plan: 'free' });
    if (status === 429)
      for (let i = 0; i < 20; i++) expect((await postChat(suite.edge.url, key)).status).toBe(200);
    // Up to there the checks come in their order: the body first.
    expect((await postChat(suite.edge.url, key, 'x'.repeat(65_536))).status).toBe(400);
    const small = await postChat(suite.edge.url, key);
    const { message } = await errorOf(small);

    const announced = await (await upload(key, 65_537)).answer();
    expect([announced.status, announced.code]).toEqual([status, code]);
    expect(announced.text).not.toContain('100 Continue');
    expect(announced.text).toContain(JSON.stringify(message).slice(1, -1));
    expect(/^retry-after: .*/m.exec(announced.text)?.[0]).toBe(
      small.headers.has('retry-after') ? `retry-after: ${small.headers.get('retry-after')}` : undefined,
    );

    const chunked = await upload(key, undefined);
    chunked.send('x'.repeat(65_536));
    chunked.send('x');
    expect(await chunked.answer()).toMatchObject({ status, code });
    expect(await bodyBytesOf(suite.edge)).toBe(0);
  });

  test('refused calls have a budget by number and bytes, beyond which the answer is 429 before the body', async () => {
    const { key, accountId } = await createTestKey(suite.db, { plan: 'free' });
    const sibling = await createTestKey(suite.db, { accountId });
    const other = await createTestKey(suite.db, { plan: 'free' });
    // Each counts 1 and 160 for its 10 MiB; 600 are the plan's.
    for (let i = 0; i < 3; i++)
      expect((await postChat(suite.edge.url, key, 'x'.repeat(10 * MIB))).status).toBe(400);
    for (let i = 0; i < 117; i++) expect((await postChat(suite.edge.url, key, 'x')).status).toBe(400);

    for (const one of [key, sibling.key]) {
      const { status, code, text } = await (await upload(one, 1_000)).answer();
      expect([status, code]).toEqual([429, 'rate_limit_exceeded']);
      expect(text).not.toContain('100 Continue');
      expect(text).toContain('600 calls of this account were rejected');
      expect(text).not.toContain('x-should-retry');
      expect(rateOf(text)).toEqual({ retryAfter: 1, remaining: '0', resetSeconds: 0.1 });
    }
    expect((await postChat(suite.edge.url, other.key)).status).toBe(200);

    now += 1_000;
    const served = await postChat(suite.edge.url, key);
    expect([served.status, served.headers.get('x-ratelimit-remaining-requests')]).toEqual([200, '19']);
    now += 60_000;
    for (let i = 0; i < 30; i++) expect((await postChat(suite.edge.url, key, 'x')).status).toBe(400);
  });

  test('an account that has overdrawn the budget waits a minute at most, even if the clock steps back', async () => {
    const { key } = await createTestKey(suite.db, { plan: 'free' });
    const uploads = await Promise.all(Array.from({ length: 16 }, () => upload(key, 2 * MIB)));
    // 16 × 33 are below the budget, and so is what one more adds to it.
    for (const one of uploads) one.send('x'.repeat(2 * MIB));
    for (const one of uploads) expect((await one.answer()).status).toBe(400);
    for (let i = 0; i < 2; i++) await postChat(suite.edge.url, key, 'x'.repeat(10 * MIB));
    now -= 3_600_000;
    const refused = await (await upload(key, 10)).answer();
    expect(refused.status).toBe(429);
    const { retryAfter, resetSeconds } = rateOf(refused.text);
    expect(retryAfter).toBeLessThan(60);
    now += Math.ceil(resetSeconds * 1_000);
    expect((await postChat(suite.edge.url, key)).status).toBe(200);
  });

  test('calls beyond the rate of the plan have a budget of their own, and are refused unread only while the plan refuses', async () => {
    const { key } = await createTestKey(suite.db, { plan: 'free' });
    const call = () => postChat(suite.edge.url, key, '{"model":"gateway/fast","messages":[]}');
    for (let i = 0; i < 20; i++) expect((await call()).status).toBe(200);
    for (let i = 0; i < 12; i++) {
      const answers = await Promise.all(Array.from({ length: 50 }, call));
      for (const answer of answers) expect(answer.status).toBe(429);
      expect((await errorOf(answers[0]!)).message).toContain('20 requests per minute');
    }

    const unread = await (await upload(key, 1_000)).answer();
    expect([unread.status, unread.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(unread.text).not.toContain('100 Continue');
    expect(unread.text).toContain('20 requests per minute');
    // A used-up budget never costs a call that the plan allows, and an invalid call still gets its own error.
    now += 60_000;
    for (let i = 0; i < 600; i++)
      await postChat(suite.edge.url, key, '{"model":"gateway/fast","messages":[]}');
    now += 60_000 - 1;
    expect((await postChat(suite.edge.url, key, 'x')).status).toBe(400);
    now += 1;
    for (let i = 0; i < 20; i++) expect((await call()).status).toBe(200);
    expect((await call()).status).toBe(429);
  });
});
