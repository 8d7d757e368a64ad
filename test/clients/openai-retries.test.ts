import OpenAI from 'openai';
import type { Clock } from '../../src/lib/clock.js';
import { createTestKey } from '../support/edge.js';
import { useStack } from '../support/stack-suite.js';
import { FAST, thrownBy, useClients, watchedFetch } from './support.js';

/** Real time, shifted or stopped by a test. */
const clock: Clock & { offsetMs: number; stoppedAt: number | undefined } = {
  offsetMs: 0,
  stoppedAt: undefined,
  now: () => clock.stoppedAt ?? Date.now() + clock.offsetMs,
};
const suite = useClients(() => useStack({ clock }));

const ask = (client: OpenAI, controls: string) =>
  client.chat.completions.create({
    model: 'gateway/fast',
    messages: [{ role: 'user', content: `${controls} Hello` }],
  });

/** With the SDK's own number of retries: two. */
function watched(apiKey = suite.user.key) {
  const { fetch, calls } = watchedFetch();
  return { client: suite.openai({ apiKey, fetch, maxRetries: undefined }), calls };
}

describe('openai: retries', () => {
  test('429 is retried at the time that the response names, and then answered', async () => {
    const free = await suite.product.signUp('free');
    const filler = suite.openai({ apiKey: free.key });
    const { client, calls } = watched(free.key);
    // 58 s ago the minute was filled, however long that took: in two seconds there is room again.
    clock.stoppedAt = clock.now();
    await Promise.all(Array.from({ length: 20 }, () => ask(filler, FAST)));
    clock.offsetMs = clock.stoppedAt + 58_000 - Date.now();
    clock.stoppedAt = undefined;
    const answer = await ask(client, FAST);
    expect(answer.choices[0]!.finish_reason).toBe('stop');
    expect(calls.map(({ status }) => status)).toEqual([429, 200]);
    // Left to itself it would come after half a second at most. A timer may be a millisecond early.
    expect(calls[0]!.retryAfterMs).toBeGreaterThan(500);
    expect(calls[1]!.at - calls[0]!.at).toBeGreaterThan(calls[0]!.retryAfterMs - 2);
    expect(calls[1]!.headers.get('x-stainless-retry-count')).toBe('1');
  });

  test('429 without room is a RateLimitError, and no usage', async () => {
    const free = await suite.product.signUp('free');
    const client = suite.openai({ apiKey: free.key });
    await Promise.all(Array.from({ length: 20 }, () => ask(client, FAST)));
    const error = await thrownBy(() => ask(client, FAST));
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded', type: 'requests' });
    const { headers } = error as InstanceType<typeof OpenAI.RateLimitError>;
    // From a minute on, the SDKs 4 and 5 would take it for nonsense and be back at once.
    for (const wait of [
      Number(headers!.get('retry-after')) * 1_000,
      Number(headers!.get('retry-after-ms')),
    ]) {
      expect(wait).toBeGreaterThan(50_000);
      expect(wait).toBeLessThan(60_000);
    }
    expect(headers!.get('x-ratelimit-remaining-requests')).toBe('0');
    expect(await suite.usage(free)).toHaveLength(20);
  });

  test("503 upstream_unconfigured isn't retried", async () => {
    const { key } = await createTestKey(suite.product.db, { virtualKey: null });
    const { client, calls } = watched(key);
    const error = await thrownBy(() => ask(client, FAST));
    expect(error).toBeInstanceOf(OpenAI.InternalServerError);
    expect(error).toMatchObject({ status: 503, code: 'upstream_unconfigured', type: 'upstream_error' });
    expect(calls.map(({ status }) => status)).toEqual([503]);
  });

  test('502 of a broken node is retried twice; each attempt is recorded, and none is charged', async () => {
    const before = await suite.balance();
    const { client, calls } = watched();
    const error = await thrownBy(() => ask(client, '[[sim status=500]]'));
    expect(error).toBeInstanceOf(OpenAI.InternalServerError);
    expect(error).toMatchObject({ status: 502, code: 'upstream_error', type: 'upstream_error' });
    expect(calls.map(({ status }) => status)).toEqual([502, 502, 502]);
    const ids = calls.map(({ requestId }) => requestId);
    const events = (await suite.usage()).filter(({ id }) => ids.includes(id));
    expect(events).toHaveLength(3);
    for (const event of events) {
      expect(event).toMatchObject({ status: 'error', error_code: 'upstream_error', http_status: 502 });
    }
    expect(await suite.balance()).toBe(before);
  });

  test('503 upstream_unavailable is retried after its Retry-After', async () => {
    const { fetch, calls } = watchedFetch();
    const client = suite.openai({ fetch, maxRetries: 1 });
    const error = await thrownBy(() => ask(client, '[[sim status=429 retry_after=1]]'));
    expect(error).toMatchObject({ status: 503, code: 'upstream_unavailable' });
    expect(calls).toHaveLength(2);
    expect(calls[1]!.at - calls[0]!.at).toBeGreaterThan(950);
  });
});
