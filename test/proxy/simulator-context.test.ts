import { systemClock } from '../../src/lib/clock.js';
import { contextOf } from '../../src/proxy/simulator/requests.js';
import { type Simulator, startSimulator } from '../../src/proxy/simulator/server.js';
import { errorOf, postChat, usageOf } from '../support/edge.js';
import { useProduct } from '../support/product-suite.js';
import { post } from './support.js';

const CONTEXT = 8_192;
/** What the simulator counts for one message of a user, beside a token for each four characters of it and its role. */
const AROUND = 7;

describe("a prompt and its model's context", () => {
  const suite = useProduct();
  let simulator: Simulator;
  beforeAll(async () => {
    simulator = await startSimulator({ clock: systemClock, models: [] });
  });
  afterAll(() => simulator.close());

  const prompt = (tokens: number) => 'x'.repeat(4 * (tokens - AROUND) - 'user: '.length);
  const chat = (content: string, model = 'gemma-3-4b', rest: object = {}) =>
    post(`${simulator.url}/chat/completions`, 'any', {
      model,
      messages: [{ role: 'user', content }],
      ...rest,
    });
  const embed = (input: string[]) =>
    post(`${simulator.url}/embeddings`, 'any', { model: 'nomic-embed-text-v1.5', input });

  test('the simulator takes a prompt as long as the context and refuses one token more, as OpenAI does', async () => {
    const whole = await chat(prompt(CONTEXT));
    expect([whole.status, ((await whole.json()) as { usage: object }).usage]).toEqual([
      200,
      expect.objectContaining({ prompt_tokens: CONTEXT }),
    ]);
    const longer = await chat(prompt(CONTEXT + 1));
    expect([longer.status, await errorOf(longer)]).toEqual([
      400,
      {
        message: expect.stringMatching(/maximum context length is 8192 tokens.*resulted in 8193 tokens/),
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    ]);
  });

  test.each(['max_tokens', 'max_completion_tokens'])(
    'the simulator refuses a prompt whose %s does not fit beside it, as vLLM does',
    async (name) => {
      const room = 2_000;
      const ask = (bound: number) => chat(prompt(CONTEXT - room), 'gemma-3-4b', { [name]: bound });
      expect((await ask(room)).status).toBe(200);
      const over = await ask(room + 1);
      expect([over.status, await errorOf(over)]).toEqual([
        400,
        {
          message:
            "'max_tokens' or 'max_completion_tokens' is too large: 2001. This model's maximum context length is 8192 tokens and your request has 6192 input tokens (2001 > 8192 - 6192).",
          type: 'BadRequestError',
          param: 'max_tokens',
          code: 400,
        },
      ]);
      expect((await chat('hello', 'another', { [name]: 1_000_000 })).status).toBe(200);
    },
  );

  test('each input of embeddings is limited separately', async () => {
    const input = 'x'.repeat(4 * CONTEXT);
    expect((await embed([input, input])).status).toBe(200);
    const longer = await embed(['a', `${input}x`]);
    expect(longer.status).toBe(400);
    expect(await errorOf(longer)).toMatchObject({ param: 'input', code: 'context_length_exceeded' });
  });

  test('an unknown model has no limit', async () => {
    expect((await chat(prompt(100_000), 'another')).status).toBe(200);
  });

  test('the contexts are the same as in the model table', async () => {
    const { rows } = await suite.db.pool.query<{ upstream_model: string; context_window: number }>(
      'select upstream_model, context_window from models',
    );
    expect(rows).toHaveLength(6);
    for (const row of rows)
      expect([row.upstream_model, contextOf(row.upstream_model)]).toEqual(Object.values(row));
  });

  test('a caller gets the reason, and pays nothing', async () => {
    const { key, accountId } = await suite.signUp();
    const response = await postChat(suite.url, key, {
      messages: [{ role: 'user', content: prompt(CONTEXT + 1) }],
    });
    expect([response.status, await errorOf(response)]).toEqual([
      400,
      {
        message:
          "This model's maximum context length is 8192 tokens. However, your messages resulted in 8193 tokens. Please reduce the length of the messages.",
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    ]);
    await suite.settled();
    expect(await usageOf(suite.db, accountId)).toEqual([
      expect.objectContaining({ status: 'error', cost: '0.000000000000' }),
    ]);
  });

  test('a coding agent gets a code that it knows for a max_tokens that is too large, and pays nothing', async () => {
    const { key, accountId } = await suite.signUp();
    const response = await postChat(suite.url, key, { max_tokens: 32_000 });
    expect([response.status, await errorOf(response)]).toEqual([
      400,
      {
        message: expect.stringContaining("'max_completion_tokens' is too large: 32000."),
        type: 'invalid_request_error',
        param: 'max_tokens',
        code: 'context_length_exceeded',
      },
    ]);
    await suite.settled();
    expect(await usageOf(suite.db, accountId)).toEqual([
      expect.objectContaining({ status: 'error', cost: '0.000000000000' }),
    ]);
  });
});
