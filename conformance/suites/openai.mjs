import assert from 'node:assert/strict';
import { checkForms } from '../lib/forms.mjs';

const FAST = '[[sim ttft_ms=1 chunk_ms=0]]';
const MODEL = 'gateway/qwen-pro';
const toolOf = (name, member) => ({
  type: 'function',
  function: {
    name,
    description: `Looks up the ${member}.`,
    parameters: { type: 'object', properties: { [member]: { type: 'string' } }, required: [member] },
  },
});
const TOOLS = [toolOf('get_weather', 'city'), toolOf('get_time', 'zone')];
const BOTH = `${FAST} Use get_weather and get_time`;
const PLAN = {
  type: 'object',
  properties: { title: { type: 'string' }, days: { type: 'integer', minimum: 1, maximum: 30 } },
  required: ['title', 'days'],
  additionalProperties: false,
};
const ask = (content, rest = {}) => ({
  model: MODEL,
  messages: [{ role: 'user', content: `${FAST} ${content}` }],
  ...rest,
});

/** The suite of one major version: the checks are the same, its client is what differs. */
export function openaiSuite(major, sdk) {
  const OpenAI = sdk.default;
  return {
    async run(checks, { url, key }) {
      const clientOf = (options = {}) =>
        new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0, ...options });
      const client = clientOf();
      const create = (body) => client.chat.completions.create(body);
      const refusal = async (run, type, status) => {
        await assert.rejects(
          run,
          (error) =>
            error instanceof OpenAI[type] &&
            error.status === status &&
            Boolean(error.requestID ?? error.request_id),
        );
      };

      await checks.check('models', async () => {
        const ids = [];
        for await (const { id } of client.models.list()) ids.push(id);
        assert.ok(ids.includes('gateway/fast') && ids.includes('gateway/embed'), ids.join());
      });
      await checks.check('one model', () => client.models.retrieve('gateway/fast'), {
        exempt: '`/v1` lists models only; the list has the same fields for each model',
      });
      await checks.check('chat', async () => {
        const { choices, usage, object } = await create(ask('What is a gateway?'));
        assert.deepEqual([object, choices[0].finish_reason], ['chat.completion', 'stop']);
        assert.match(choices[0].message.content, /gateway/);
        assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens);
      });
      await checks.check('stream', async () => {
        const whole = await create(ask('Tell me about tides'));
        let text = '';
        let usage;
        const stream = await create(
          ask('Tell me about tides', { stream: true, stream_options: { include_usage: true } }),
        );
        for await (const chunk of stream) {
          text += chunk.choices[0]?.delta.content ?? '';
          usage = chunk.usage ?? usage;
        }
        assert.equal(text, whole.choices[0].message.content);
        assert.deepEqual(usage, whole.usage);
      });
      await checks.check('several tool calls at once', async () => {
        const { choices } = await create(ask(BOTH, { tools: TOOLS }));
        const calls = choices[0].message.tool_calls;
        assert.deepEqual(
          calls.map((call) => call.function.name),
          ['get_weather', 'get_time'],
        );
        const [first, second] = calls.map((call) => JSON.parse(call.function.arguments));
        assert.deepEqual([typeof first.city, typeof second.zone], ['string', 'string']);
        const one = await create(ask(BOTH, { tools: TOOLS, parallel_tool_calls: false }));
        assert.equal(one.choices[0].message.tool_calls.length, 1);
      });
      await checks.check('several tool calls, put together from a stream by the SDK', async () => {
        const chat = client.chat.completions.stream ? client.chat.completions : client.beta.chat.completions;
        const stream = chat.stream(ask(BOTH, { tools: TOOLS }));
        const { tool_calls: calls } = await stream.finalMessage();
        const whole = await create(ask(BOTH, { tools: TOOLS }));
        const plain = (list) => list.map(({ id, function: { name, arguments: text } }) => [id, name, text]);
        assert.deepEqual(plain(calls), plain(whole.choices[0].message.tool_calls));
      });
      await checks.check('runTools runs both and gets to an answer', async () => {
        const ran = [];
        const chat = client.chat.completions.runTools
          ? client.chat.completions
          : client.beta.chat.completions;
        const tools = TOOLS.map(({ function: described }) => ({
          type: 'function',
          function: {
            ...described,
            parse: JSON.parse,
            function: (input) => {
              ran.push(described.name);
              return `known: ${Object.values(input)[0]}`;
            },
          },
        }));
        const answer = await chat.runTools({ ...ask(BOTH), tools }).finalContent();
        assert.deepEqual(ran, ['get_weather', 'get_time']);
        assert.match(answer, /known: /);
      });
      await checks.check('JSON mode', async () => {
        const { choices } = await create(ask('JSON please', { response_format: { type: 'json_object' } }));
        assert.equal(typeof JSON.parse(choices[0].message.content), 'object');
      });
      await checks.check('JSON schema, whole and streamed', async () => {
        const format = { type: 'json_schema', json_schema: { name: 'plan', strict: true, schema: PLAN } };
        const body = ask('Plan a trip', { response_format: format });
        const { choices } = await create(body);
        const plan = JSON.parse(choices[0].message.content);
        assert.deepEqual(Object.keys(plan), ['title', 'days']);
        assert.ok(Number.isInteger(plan.days) && plan.days >= 1 && plan.days <= 30);
        let text = '';
        for await (const chunk of await create({ ...body, stream: true }))
          text += chunk.choices[0]?.delta.content ?? '';
        assert.deepEqual(JSON.parse(text), plan);
      });
      // The helpers of versions 4 and 5 are for zod 3.
      if (major > 5)
        await checks.check('zodResponseFormat and parse', async () => {
          const [{ z }, { zodResponseFormat }] = await Promise.all([
            import('zod'),
            import(`openai${major}/helpers/zod`),
          ]);
          const shape = z.object({ title: z.string(), days: z.number().int() });
          const { choices } = await client.chat.completions.parse(
            ask('Plan', { response_format: zodResponseFormat(shape, 'plan') }),
          );
          assert.deepEqual(shape.parse(choices[0].message.parsed), choices[0].message.parsed);
        });
      await checks.check('log probabilities, whole and streamed', async () => {
        const body = ask('Hello', { logprobs: true, top_logprobs: 2 });
        const [{ message, logprobs }] = (await create(body)).choices;
        assert.equal(logprobs.content.map(({ token }) => token).join(''), message.content);
        assert.ok(
          logprobs.content.every(({ logprob, top_logprobs: top }) => logprob <= 0 && top.length === 2),
        );
        const streamed = [];
        for await (const { choices } of await create({ ...body, stream: true }))
          streamed.push(...(choices[0]?.logprobs?.content ?? []));
        assert.deepEqual(streamed, logprobs.content);
      });
      await checks.check('stop', async () => {
        const text = (await create(ask('Hello'))).choices[0].message.content;
        const stop = text.slice(12, 18);
        const [choice] = (await create(ask('Hello', { stop: [stop] }))).choices;
        assert.deepEqual(
          [choice.message.content, choice.finish_reason],
          [text.slice(0, text.indexOf(stop)), 'stop'],
        );
      });
      await checks.check('seed', async () => {
        const texts = await Promise.all(
          [7, 7, 8].map(async (seed) =>
            (await create(ask('Hello', { seed, n: 3 }))).choices.map(({ message }) => message.content),
          ),
        );
        assert.deepEqual(texts[1], texts[0]);
        assert.notDeepEqual(texts[2], texts[0]);
      });
      await checks.check('max_tokens', async () => {
        const { choices, usage } = await create(ask('Hello', { max_tokens: 3 }));
        assert.deepEqual([choices[0].finish_reason, usage.completion_tokens], ['length', 3]);
      });
      await checks.check('embeddings: the SDK’s own encoding, floats, base64, dimensions', async () => {
        const embed = async (rest = {}) =>
          (
            await client.embeddings.create({ model: 'gateway/embed', input: ['one', 'two'], ...rest })
          ).data.map(({ embedding }) => embedding);
        const [usual, floats, packed, short] = [
          await embed(),
          await embed({ encoding_format: 'float' }),
          await embed({ encoding_format: 'base64' }),
          await embed({ dimensions: 256 }),
        ];
        assert.equal(floats[0].length, 768);
        // Versions unpack what they asked for as base64, and leave what the caller asked for.
        const decoded = Buffer.from(packed[1], 'base64');
        assert.equal(decoded.readFloatLE(0), Math.fround(floats[1][0]));
        assert.deepEqual(
          usual.map((vector) => Array.from(vector)),
          floats,
        );
        assert.deepEqual(
          short.map(({ length }) => length),
          [256, 256],
        );
      });
      if (client.responses)
        await checks.check('responses, whole and streamed', async () => {
          const body = { model: MODEL, input: `${FAST} What is a response?`, store: false };
          const whole = await client.responses.create(body);
          assert.match(whole.output_text, /response/);
          let text = '';
          for await (const event of await client.responses.create({ ...body, stream: true })) {
            if (event.type === 'response.output_text.delta') text += event.delta;
          }
          assert.equal(text, whole.output_text);
        });
      await checks.check('a wrong key is an AuthenticationError', () =>
        refusal(
          () => clientOf({ apiKey: 'sk-pr-nonsense' }).chat.completions.create(ask('Hello')),
          'AuthenticationError',
          401,
        ),
      );
      await checks.check('a model outside of the plan is a PermissionDeniedError', () =>
        refusal(() => create(ask('Hello', { model: 'gpt-4o' })), 'PermissionDeniedError', 403),
      );
      await checks.check('a wrong body is a BadRequestError with its param', async () => {
        await refusal(() => create(ask('Hello', { top_logprobs: 2 })), 'BadRequestError', 400);
      });
      await checks.check('an unknown address is a NotFoundError', () =>
        refusal(() => client.get('/nothing'), 'NotFoundError', 404),
      );
      await checks.check('a node that fails is called again as often as the SDK wants', async () => {
        let calls = 0;
        const counted = (input, init) => {
          calls++;
          return fetch(input, init);
        };
        const failing = clientOf({ fetch: counted, maxRetries: 1 });
        const error = await failing.chat.completions.create(ask('[[sim status=503]] Hello')).then(
          () => undefined,
          (thrown) => thrown,
        );
        assert.ok(error instanceof OpenAI.InternalServerError, String(error));
        assert.equal(calls, 2);
      });
      await checks.check('abort ends a stream in its middle', async () => {
        const controller = new AbortController();
        const stream = await client.chat.completions.create(
          {
            ...ask('Hello', { stream: true }),
            messages: [{ role: 'user', content: '[[sim words=500 chunk_ms=20]] Hello' }],
          },
          { signal: controller.signal },
        );
        let chunks = 0;
        try {
          for await (const _chunk of stream) if (++chunks === 3) controller.abort();
        } catch (error) {
          assert.ok(error instanceof OpenAI.APIUserAbortError, String(error));
        }
        assert.ok(chunks < 20, String(chunks));
      });
      await checks.check('a timeout is an APIConnectionTimeoutError', () =>
        assert.rejects(
          clientOf({ timeout: 300 }).chat.completions.create(ask('[[sim delay_ms=5000]] Hello')),
          OpenAI.APIConnectionTimeoutError,
        ),
      );
      await checkForms(checks, {
        chat: async (content) => (await create(ask(content))).choices[0].message.content,
        stream: async (content) => {
          let text = '';
          for await (const { choices } of await create(ask(content, { stream: true })))
            text += choices[0].delta.content ?? '';
          return text;
        },
        embed: async (input) => {
          const { data } = await client.embeddings.create({ model: 'gateway/embed', input });
          return Array.from(data[0].embedding);
        },
      });
    },
  };
}
