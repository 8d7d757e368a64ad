import OpenAI from 'openai';
import type { UsageRow } from '../support/edge.js';
import { soonerThan } from '../support/sooner-than.js';
import { useStack } from '../support/stack-suite.js';
import { until } from '../support/until.js';
import { thrownBy, useClients, watchedFetch } from './support.js';

/** Who leaves pays for what was generated and no more; the node stops working for nobody. */
const suite = useClients(useStack);

const user = (content: string) => [{ role: 'user' as const, content }];

/** The newest event, once there are `count`. */
async function eventNumber(count: number): Promise<UsageRow> {
  await until(async () => (await suite.usage()).length >= count, { what: `event ${count}` });
  const events = await suite.usage();
  expect(events).toHaveLength(count);
  return events.at(-1)!;
}

const nodeIdle = () =>
  soonerThan(1_000, () => suite.product.stack.router.simulator.stats().running === 0, 'the node is left');

describe('openai: leaving', () => {
  test('a stream aborted after tokens is charged for them and flagged', async () => {
    const before = await suite.balance();
    const events = (await suite.usage()).length;
    const { fetch, calls } = watchedFetch();
    const controller = new AbortController();
    const stream = await suite.openai({ fetch }).chat.completions.create(
      {
        model: 'gateway/qwen-pro',
        messages: user('[[sim ttft_ms=1 chunk_ms=10 words=2000]] Talk for long'),
        stream: true,
      },
      { signal: controller.signal },
    );
    let tokens = 0;
    for await (const { choices } of stream) {
      if (choices[0]?.delta.content) tokens++;
      if (tokens === 8) controller.abort();
    }
    await nodeIdle();
    const event = await eventNumber(events + 1);
    expect(event).toMatchObject({
      id: calls[0]!.requestId,
      status: 'success',
      client_aborted: true,
      estimated: true,
      stream: true,
    });
    // What was on its way when the client left counts too, but never the whole of it.
    expect(event.output_tokens).toBeGreaterThanOrEqual(8);
    expect(event.output_tokens).toBeLessThan(200);
    const { input_tokens: input, output_tokens: output } = event;
    const cost = await suite.priceOf([{ model: 'gateway/qwen-pro', input, output }]);
    expect(before - (await suite.balance())).toBe(cost);
  });

  test('breaking out of the loop counts as leaving', async () => {
    const events = (await suite.usage()).length;
    const stream = await suite.openai().chat.completions.create({
      model: 'gateway/fast',
      messages: user('[[sim ttft_ms=1 chunk_ms=10 words=2000 usage=continuous]] Talk for long'),
      stream: true,
    });
    for await (const { choices } of stream) if (choices[0]?.delta.content) break;
    await nodeIdle();
    const event = await eventNumber(events + 1);
    // This node counts as it goes: nothing needs to be estimated.
    expect(event).toMatchObject({ status: 'success', client_aborted: true, estimated: false });
    expect(event.output_tokens).toBeGreaterThan(0);
  });

  test.each([true, false])('before the first token it is free (stream: %s)', async (stream) => {
    const before = await suite.balance();
    const events = (await suite.usage()).length;
    const controller = new AbortController();
    const asked = thrownBy(() =>
      suite
        .openai()
        .chat.completions.create(
          { model: 'gateway/fast', messages: user('[[sim delay_ms=60000]] Think'), stream },
          { signal: controller.signal },
        ),
    );
    await until(() => suite.product.stack.router.simulator.stats().running === 1, {
      what: 'the node to begin',
    });
    controller.abort();
    expect(await asked).toBeInstanceOf(OpenAI.APIUserAbortError);
    await nodeIdle();
    expect(await eventNumber(events + 1)).toMatchObject({
      status: 'error',
      error_code: 'client_closed_request',
      client_aborted: true,
      cost: '0.000000000000',
    });
    expect(await suite.balance()).toBe(before);
  });

  test("the SDK's own timeout counts as leaving", async () => {
    const events = (await suite.usage()).length;
    // Long enough for the call to reach the edge.
    const client = suite.openai({ timeout: 1_000, fetch: watchedFetch().fetch });
    const error = await thrownBy(() =>
      client.chat.completions.create({
        model: 'gateway/fast',
        messages: user('[[sim delay_ms=60000]] Think'),
      }),
    );
    expect(error).toBeInstanceOf(OpenAI.APIConnectionTimeoutError);
    await nodeIdle();
    expect(await eventNumber(events + 1)).toMatchObject({ status: 'error', client_aborted: true });
  });
});
