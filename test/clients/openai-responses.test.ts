import OpenAI, { APIError, BadRequestError, NotFoundError } from 'openai';
import type { ResponseCreateParamsNonStreaming } from 'openai/resources/responses/responses';
import { createTestKey, type TestKey, usageOf } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import {
  chat,
  chunkEvent,
  DONE_EVENT,
  FULL_STREAM,
  raw,
  stream,
  usageEvent,
} from '../support/scripted-upstream.js';
import { until } from '../support/until.js';

const TOOLS = [
  {
    type: 'function' as const,
    name: 'weather',
    description: 'The weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
    strict: true,
  },
];
const CALLS = [
  { id: 'call_a', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
  { id: 'call_b', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
];

describe('openai: responses', () => {
  const suite = useEdge({ env: { RESPONSES_API: '1' } });
  let caller: TestKey;
  let client: OpenAI;
  beforeEach(async () => {
    caller = await createTestKey(suite.db);
    client = new OpenAI({ baseURL: `${suite.edge.url}/v1`, apiKey: caller.key, maxRetries: 0 });
    suite.upstream.answer(chat());
  });

  const create = (body: object) =>
    client.responses.create({
      model: 'gateway/fast',
      input: 'Hi',
      ...body,
    } as ResponseCreateParamsNonStreaming);
  const sent = () => JSON.parse(suite.upstream.seen.at(-1)!.body);

  test('a text gets a text, billed as a chat call', async () => {
    const response = await create({ instructions: 'Be brief.', max_output_tokens: 50, temperature: 0.5 });
    expect(response.output_text).toBe('Hello.');
    expect(response).toMatchObject({
      id: expect.stringMatching(/^resp_[0-9a-f]{32}$/),
      object: 'response',
      status: 'completed',
      model: 'gateway/fast',
      store: false,
      previous_response_id: null,
      usage: { input_tokens: 12, output_tokens: 34, total_tokens: 46 },
    });
    expect(sent()).toEqual({
      model: 'gateway/fast',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
      max_tokens: 50,
      temperature: 0.5,
    });
    await suite.edge.settled();
    expect(await usageOf(suite.db, caller.accountId)).toMatchObject([
      { endpoint: 'chat', stream: false, cost: '0.000011400000', status: 'success' },
    ]);
  });

  test('a conversation with images, calls and their results reaches the node as a chat request', async () => {
    await create({
      input: [
        { role: 'developer', content: 'Rules' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What is it?' },
            { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'low' },
          ],
        },
        { type: 'reasoning', id: 'rs_1', summary: [] },
        { role: 'assistant', content: [{ type: 'output_text', text: 'Let me ', annotations: [] }] },
        { type: 'function_call', call_id: 'call_a', name: 'weather', arguments: '{"city":"Rome"}' },
        { type: 'function_call', call_id: 'call_b', name: 'weather', arguments: '{"city":"Oslo"}' },
        { type: 'function_call_output', call_id: 'call_a', output: 'sun' },
        { type: 'function_call_output', call_id: 'call_b', output: [{ type: 'input_text', text: 'snow' }] },
      ],
      tools: TOOLS,
      tool_choice: { type: 'function', name: 'weather' },
      text: { format: { type: 'json_schema', name: 'answer', schema: { type: 'object' }, strict: true } },
      reasoning: { effort: 'low' },
    });
    expect(sent()).toEqual({
      model: 'gateway/fast',
      messages: [
        { role: 'system', content: 'Rules' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
          ],
        },
        { role: 'assistant', content: 'Let me ', tool_calls: CALLS },
        { role: 'tool', tool_call_id: 'call_a', content: 'sun' },
        { role: 'tool', tool_call_id: 'call_b', content: 'snow' },
      ],
      tools: [{ type: 'function', function: { ...TOOLS[0], type: undefined } }],
      tool_choice: { type: 'function', function: { name: 'weather' } },
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', schema: { type: 'object' }, strict: true },
      },
      reasoning_effort: 'low',
    });
  });

  test.each([
    [{ tools: [], tool_choice: 'auto', parallel_tool_calls: false }, {}],
    [{ tool_choice: 'none' }, {}],
    [{ tool_choice: 'required' }, { tool_choice: 'required' }],
  ])('without tools, %j reaches the node as %j', async (body, asked) => {
    expect(await create(body)).toMatchObject({ tool_choice: body.tool_choice });
    expect(sent()).toEqual({
      model: 'gateway/fast',
      messages: [{ role: 'user', content: 'Hi' }],
      ...asked,
    });
  });

  test('with tools, the choice among them reaches the node', async () => {
    await create({ tools: TOOLS, tool_choice: 'auto', parallel_tool_calls: false });
    expect(sent()).toMatchObject({ tool_choice: 'auto', parallel_tool_calls: false });
  });

  test('calls of tools come as items, and an answer that was cut says why', async () => {
    const message = { role: 'assistant', content: null, reasoning_content: 'Hm.', tool_calls: CALLS };
    suite.upstream.answer(chat({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }));
    const { output, status } = await create({ tools: TOOLS });
    expect([status, output.map(({ type }) => type)]).toEqual([
      'completed',
      ['reasoning', 'function_call', 'function_call'],
    ]);
    expect(output.at(-1)).toMatchObject({
      call_id: 'call_b',
      name: 'weather',
      arguments: '{"city":"Oslo"}',
      status: 'completed',
    });
    const cut = { role: 'assistant', content: 'Hel' };
    suite.upstream.answer(chat({ choices: [{ index: 0, message: cut, finish_reason: 'length' }] }));
    expect(await create({})).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output_text: 'Hel',
    });
  });

  test('a stream has an event for each step, from which the SDK builds the same response', async () => {
    suite.upstream.answer(stream(FULL_STREAM));
    const events = [];
    const helper = client.responses.stream({ model: 'gateway/fast', input: 'Hi' });
    for await (const event of helper) events.push(event);
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, n) => n));
    const final = await helper.finalResponse();
    expect(final).toMatchObject({ output_text: 'Hello.', usage: { input_tokens: 12, output_tokens: 34 } });
    await suite.edge.settled();
    expect(await usageOf(suite.db, caller.accountId)).toMatchObject([
      { endpoint: 'chat', stream: true, cost: '0.000011400000' },
    ]);
  });

  test('a stream of several tool calls keeps their arguments apart', async () => {
    const call = (index: number, fields: object) =>
      chunkEvent({
        choices: [{ index: 0, delta: { tool_calls: [{ index, ...fields }] }, finish_reason: null }],
      });
    suite.upstream.answer(
      stream([
        call(0, { id: 'call_a', type: 'function', function: { name: 'weather', arguments: '' } }),
        call(0, { function: { arguments: '{"city":' } }),
        call(0, { function: { arguments: '"Rome"}' } }),
        call(1, {
          id: 'call_b',
          type: 'function',
          function: { name: 'weather', arguments: '{"city":"Oslo"}' },
        }),
        chunkEvent({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }),
        usageEvent(12, 34),
        DONE_EVENT,
      ]),
    );
    const helper = client.responses.stream({ model: 'gateway/fast', input: 'Hi', tools: TOOLS });
    const { output } = await helper.finalResponse();
    expect(output).toMatchObject(
      CALLS.map(({ id, function: { name, arguments: text } }) => ({
        type: 'function_call',
        call_id: id,
        name,
        arguments: text,
      })),
    );
  });

  /** The calls that the SDK puts together from a stream of tool calls, each with its arguments parsed. */
  const callsOf = async (...deltas: object[]): Promise<[string, unknown][]> => {
    const events = deltas.map((call) =>
      chunkEvent({ choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }] }),
    );
    const end = chunkEvent({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] });
    suite.upstream.answer(stream([...events, end, usageEvent(12, 34), DONE_EVENT]));
    const helper = client.responses.stream({ model: 'gateway/fast', input: 'Hi', tools: TOOLS });
    const { output } = await helper.finalResponse();
    return output.flatMap((item) =>
      item.type === 'function_call' ? [[item.call_id, JSON.parse(item.arguments)]] : [],
    );
  };
  const OF_TWO = [
    ['call_a', { city: 'Rome' }],
    ['call_b', { city: 'Oslo' }],
  ];

  test.each([0, undefined])(
    'calls that all have the index %j are distinguished by their IDs',
    async (index) => {
      expect(await callsOf(...CALLS.map((call) => ({ ...call, index })))).toEqual(OF_TWO);
    },
  );

  test('calls whose arguments arrive interleaved are put together', async () => {
    const [rome, oslo] = CALLS.map(({ id, type }, index) => ({ index, id, type }));
    const more = (index: number, text: string) => ({ index, function: { arguments: text } });
    expect(
      await callsOf(
        { ...rome, function: { name: 'weather', arguments: '{"city":' } },
        { ...oslo, function: { name: 'weather', arguments: '{"city":' } },
        more(0, '"Rome"}'),
        more(1, '"Oslo"}'),
      ),
    ).toEqual(OF_TWO);
  });

  test('deltas of one call with different IDs stay one call', async () => {
    expect(
      await callsOf(
        { index: 0, id: 'call_a', function: { name: 'weather', arguments: '{"city":' } },
        { index: 0, id: 'call_x', function: { name: null, arguments: '"Rome"}' } },
      ),
    ).toEqual(OF_TWO.slice(0, 1));
  });

  test('a stream that breaks ends with an error, and is free', async () => {
    suite.upstream.answer(stream(FULL_STREAM.slice(0, 3)));
    const types: string[] = [];
    const broken = await client.responses.create({ model: 'gateway/fast', input: 'Hi', stream: true });
    const reading = (async () => {
      for await (const { type } of broken) types.push(type);
    })();
    await expect(reading).rejects.toThrow(APIError);
    expect(types.at(-1)).toBe('response.failed');
    await suite.edge.settled();
    expect(await usageOf(suite.db, caller.accountId)).toMatchObject([
      { cost: '0.000000000000', status: 'error' },
    ]);
  });

  test.each([
    [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
    [{ conversation: 'conv_1' }, 'conversation'],
    [{ prompt: { id: 'pmpt_1' } }, 'prompt'],
    [{ store: true }, 'store'],
    [{ background: true }, 'background'],
    [{ truncation: 'auto' }, 'truncation'],
    [{ tools: [{ type: 'web_search' }] }, 'tools[0].type'],
    [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input[0].type'],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] },
      'input[0].content[0].image_url',
    ],
    [{ input: 5 }, 'input'],
    [{ model: undefined }, 'model'],
  ])('%j is refused with its name, and reaches no node', async (body, param) => {
    const before = suite.upstream.seen.length;
    const error = await create(body).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ code: 'invalid_body', param: expect.stringContaining(param) });
    expect(suite.upstream.seen).toHaveLength(before);
  });

  test.each([
    [{ model: undefined }, '"model" is required.'],
    [{ max_output_tokens: 0 }, '"max_output_tokens" must be at least 1.'],
    [{ tools: [0] }, '"tools[0]" must be of type object, not number.'],
    [{ metadata: { a: 'b', c: 1 } }, '"metadata" must have texts as values.'],
    [{ input: undefined }, '"input" is required.'],
    [{ input: 5 }, '"input" must be a text or a list of items.'],
    [{ input: [] }, '"input" must have at least one message.'],
    [{ max_output_tokens: 2_000_000_000 }, '"max_output_tokens" must be an integer from 1 to 1000000000.'],
  ])('%j is refused with a message that says why', async (body, message) => {
    await expect(create(body)).rejects.toMatchObject({ error: { message } });
  });

  test('an address that is refused is named by its place in the request', async () => {
    const image = { type: 'input_image', image_url: 'http://10.0.0.1/' };
    const text = { type: 'input_text', text: 'What is this?' };
    const call = { type: 'function_call', call_id: 'call_a', name: 'draw', arguments: '{}' };
    const asked = { role: 'user', content: [text, image] };
    const drawn = { type: 'function_call_output', call_id: 'call_a', output: [image] };
    const file = { type: 'input_file', file_data: 'http://10.0.0.1/' };
    const cases: [object, string][] = [
      [{ input: [asked] }, 'input[0].content[1].image_url'],
      [{ instructions: 'Be brief.', input: [asked] }, 'input[0].content[1].image_url'],
      [{ input: [call, { ...call, call_id: 'call_b' }, drawn] }, 'input[2].output[0].image_url'],
      [{ input: [{ role: 'user', content: [file] }] }, 'input[0].content[0].file_data'],
    ];
    for (const [body, param] of cases) {
      await expect(create(body)).rejects.toMatchObject({
        param,
        error: { message: expect.stringContaining(`"${param}" `) },
      });
    }
  });

  const MANY = 2 ** 19 - 100;
  const deep = ['{"a":'.repeat(10_000), '}'.repeat(10_000)].join('1');
  test.each([
    [
      'that nests too deep',
      `{"model":"gateway/fast","input":"Hi","tools":[{"type":"function","name":"f","parameters":${deep}}]}`,
    ],
    ['of zeros', `{"model":"gateway/fast","input":[${Array(MANY).fill(0)}]}`],
    ['of tools of zeros', `{"model":"gateway/fast","input":"Hi","tools":[${Array(MANY).fill(0)}]}`],
    ['that names its model twice', '{"model":"gateway/fast","input":"Hi","model":"gateway/qwen-pro"}'],
    ['that is not UTF-8', Buffer.from('{"model":"gateway/fast","input":"\xff"}', 'latin1')],
    ['that is not an object', '["gateway/fast"]'],
    ['that is cut', '{"model":"gateway/fast","input":"H'],
  ])('a body %s is refused, and reaches no node', async (_what, body) => {
    const before = suite.upstream.seen.length;
    const answer = await fetch(`${suite.edge.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}` },
      body,
    });
    const { error } = (await answer.json()) as { error: { code: string } };
    expect([answer.status, error.code]).toEqual([400, 'invalid_body']);
    expect(suite.upstream.seen).toHaveLength(before);
  });

  test('a long series of calls reaches the node as one message', async () => {
    const call = { type: 'function_call', call_id: 'call_a', name: 'weather', arguments: '{}' };
    await create({ input: Array(5_000).fill(call) });
    const { messages } = sent() as { messages: { tool_calls: unknown[] }[] };
    expect(messages.map(({ tool_calls: calls }) => calls.length)).toEqual([5_000]);
  });

  test('what a response repeats of its request counts as memory until it has been read', async () => {
    const bytes = async (): Promise<number> =>
      (await suite.edge.registry.getSingleMetric('gateway_request_body_bytes')!.get()).values[0]!.value;
    await until(async () => (await bytes()) === 0, { what: 'the end of earlier calls' });
    let finish: (() => void) | undefined;
    suite.upstream.answer((request, response) => {
      finish = () => stream(FULL_STREAM)(request, response);
    });
    const instructions = 'x'.repeat(300_000);
    const answer = create({ instructions, stream: true } as object).then(async (events) => {
      for await (const _event of events as unknown as AsyncIterable<unknown>);
    });
    const end = await until(() => finish, { what: 'the call' });
    // Once as the request, and in three events.
    expect(await bytes()).toBeGreaterThan(4 * instructions.length);
    end();
    await answer;
    await until(async () => (await bytes()) === 0, { what: 'the memory to be free again' });
  });

  test('a large answer that cannot be read is a failure, and free', async () => {
    const choice = { index: 0, message: { role: 'assistant', content: 'x'.repeat(300_000) } };
    const usage = { prompt_tokens: 12, completion_tokens: 34, total_tokens: 46 };
    suite.upstream.answer(
      raw(200, `{"choices":[${JSON.stringify(choice)},],"usage":${JSON.stringify(usage)}}`),
    );
    await expect(create({})).rejects.toMatchObject({ status: 502, code: 'upstream_error' });
    await suite.edge.settled();
    expect(await usageOf(suite.db, caller.accountId)).toMatchObject([
      { cost: '0.000000000000', status: 'error' },
    ]);
  });

  test('unknown members are dropped and listed in a header', async () => {
    const { response } = await client.responses
      .create({
        model: 'gateway/fast',
        input: 'Hi',
        store: false,
        include: ['reasoning.encrypted_content'],
        max_tool_calls: 3,
      })
      .withResponse();
    expect(response.headers.get('x-gateway-dropped-fields')).toBe('max_tool_calls');
  });

  test("a request that is too large is refused, and a response can't be retrieved later", async () => {
    await expect(create({ input: 'x'.repeat(1024 * 1024) })).rejects.toMatchObject({
      status: 413,
      code: 'body_too_large',
    });
    await expect(client.responses.retrieve('resp_1')).rejects.toBeInstanceOf(NotFoundError);
  });
});

describe('openai: responses, unless RESPONSES_API is set', () => {
  const suite = useEdge();

  test('are not supported', async () => {
    const { key } = await createTestKey(suite.db);
    const client = new OpenAI({ baseURL: `${suite.edge.url}/v1`, apiKey: key, maxRetries: 0 });
    await expect(client.responses.create({ model: 'gateway/fast', input: 'Hi' })).rejects.toMatchObject({
      status: 404,
      code: 'endpoint_not_supported',
    });
  });
});
