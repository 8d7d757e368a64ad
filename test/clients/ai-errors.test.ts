import { APICallError, generateText, RetryError, streamText } from 'ai';
import { createTestKey } from '../support/edge.js';
import { ownTime } from '../support/own-time.js';
import { until } from '../support/until.js';
import { providerOf } from './ai-support.js';
import { FAST, thrownBy, useClients, watchedFetch } from './support.js';

const suite = useClients();

describe('ai: errors', () => {
  test.each([
    ['key', 'sk-pr-nonsense', 'gateway/fast', 401, /sk-pr-/],
    ['model', undefined, 'gpt-4o', 403, /There is no model "gpt-4o" here/],
  ])("a wrong %s surfaces with the gateway's message", async (_what, key, model, status, message) => {
    const { fetch, calls } = watchedFetch();
    const error = await thrownBy(() =>
      generateText({ model: providerOf(suite, key, fetch)(model), prompt: `${FAST} Hello` }),
    );
    if (!APICallError.isInstance(error)) throw error;
    expect(error.statusCode).toBe(status);
    expect(error.message).toMatch(message);
    expect(error.isRetryable).toBe(false);
    expect(calls).toHaveLength(1);
  });

  test('upstream_unconfigured says what to do', async () => {
    const { key } = await createTestKey(suite.product.db, { virtualKey: null });
    const error = await thrownBy(() =>
      generateText({ model: providerOf(suite, key)('gateway/fast'), prompt: `${FAST} Hello`, maxRetries: 0 }),
    );
    expect(error).toMatchObject({
      statusCode: 503,
      message: expect.stringContaining('Delete it and create another'),
    });
  });

  test('503 upstream_unavailable is retried after its Retry-After', async () => {
    const { fetch, calls } = watchedFetch();
    const time = ownTime();
    const asked: number[] = [];
    const timed: typeof fetch = (input, init) => {
      asked.push(time.now());
      return fetch(input, init);
    };
    const error = await thrownBy(() =>
      generateText({
        model: providerOf(suite, undefined, timed)('gateway/fast'),
        prompt: '[[sim status=429 retry_after=1]] Hello',
        maxRetries: 1,
      }),
    );
    time.stop();
    expect(RetryError.isInstance(error)).toBe(true);
    expect(calls.map(({ status }) => status)).toEqual([503, 503]);
    expect(calls[1]!.at - calls[0]!.at).toBeGreaterThan(950);
    // Its own pause would be two seconds.
    expect(asked[1]! - asked[0]!).toBeLessThan(1_900);
  });

  test('an error in the middle of a stream arrives as an error part, and the call is free', async () => {
    const before = await suite.balance();
    const result = streamText({
      model: providerOf(suite)('gateway/fast'),
      prompt: '[[sim ttft_ms=1 chunk_ms=1 abort_after=5]] Breaks off',
      maxRetries: 0,
      onError: () => undefined,
    });
    const errors: unknown[] = [];
    let text = '';
    for await (const part of result.stream) {
      if (part.type === 'error') errors.push(part.error);
      if (part.type === 'text-delta') text += part.text;
    }
    expect(text).not.toBe('');
    expect(errors).toHaveLength(1);
    expect(JSON.stringify(errors[0]) + String(errors[0])).toContain('The model failed to answer');
    expect(await suite.balance()).toBe(before);
  });

  test('an aborted stream is charged for its tokens', async () => {
    const controller = new AbortController();
    const events = (await suite.usage()).length;
    const result = streamText({
      model: providerOf(suite)('gateway/fast'),
      prompt: '[[sim ttft_ms=1 chunk_ms=10 words=2000]] Talk for long',
      abortSignal: controller.signal,
    });
    for await (const part of result.stream) if (part.type === 'text-delta') controller.abort();
    await until(async () => (await suite.usage()).length > events, { what: 'the event' });
    const event = (await suite.usage()).at(-1)!;
    expect(event).toMatchObject({ status: 'success', client_aborted: true });
    expect(event.output_tokens).toBeGreaterThan(0);
  });
});
