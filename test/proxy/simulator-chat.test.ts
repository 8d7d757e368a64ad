import { systemClock } from '../../src/lib/clock.js';
import { chanceOf } from '../../src/proxy/simulator/random.js';
import { valueFor } from '../../src/proxy/simulator/schema-value.js';
import { type Simulator, startSimulator } from '../../src/proxy/simulator/server.js';
import fc from '../support/fast-check.js';
import { type ChunkBody, chunksOf, type Logprobs, post, textOf } from './support.js';

interface Message {
  content: string | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
}
interface Chat {
  system_fingerprint: string;
  choices: { index: number; message: Message; logprobs: Logprobs | null; finish_reason: string }[];
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
}

const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string' },
        unit: { enum: ['c', 'f'] },
        days: { type: 'integer', minimum: 1, maximum: 7 },
      },
      required: ['city', 'unit'],
    },
  },
};
const clock = {
  type: 'function',
  function: { name: 'get_time', parameters: { type: 'object', properties: {} } },
};

describe('the simulator', () => {
  let simulator: Simulator;
  beforeAll(async () => {
    simulator = await startSimulator({ clock: systemClock, models: ['gemma-3-4b'] });
  });
  afterAll(() => simulator.close());

  const QUICK = '[[sim ttft_ms=0 chunk_ms=0]]';
  const raw = (rest: Record<string, unknown> = {}, content = 'Plan a trip to Lisbon') =>
    post(`${simulator.url}/chat/completions`, 'any', {
      model: 'gemma-3-4b',
      messages: [{ role: 'user', content: `${QUICK} ${content}` }],
      ...rest,
    });
  const chat = async (rest?: Record<string, unknown>, content?: string) =>
    (await (await raw(rest, content)).json()) as Chat;
  const stream = async (rest?: Record<string, unknown>, content?: string) =>
    chunksOf(await (await raw({ stream: true, ...rest }, content)).text());

  test('answers the same call the same way, and others differently', async () => {
    const [first, second, other] = [await chat(), await chat(), await chat({}, 'Explain compilers')];
    expect(second.choices).toEqual(first.choices);
    expect(other.choices).not.toEqual(first.choices);
    expect(first.choices[0]?.message.content).toMatch(/simulated.*Lisbon/is);
    expect(first.system_fingerprint).toBe('simulator-1');
  });

  test('refuses a million values at once, right or wrong', async () => {
    const started = performance.now();
    for (const messages of [
      new Array(1_000_000).fill(1),
      [{ role: 'user', content: new Array(1_000_000).fill({}) }],
    ]) {
      const answer = await raw({ messages });
      expect(answer.status).toBe(400);
      expect(await answer.text()).toMatch(/at most 50000 values/);
    }
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test('counts tokens by the pieces of the stream, and sends usage only if requested', async () => {
    const whole = await chat();
    const chunks = await stream({ stream_options: { include_usage: true } });
    const tokens = chunks.filter((chunk) => chunk.choices[0]?.delta.content).length;
    expect(whole.usage.completion_tokens).toBe(tokens);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage });
    expect(chunks.slice(0, -1).some((chunk) => chunk.usage)).toBe(false);
    expect((await stream()).some((chunk) => chunk.usage)).toBe(false);
    const longer = await chat({}, 'word '.repeat(400));
    expect(longer.usage.prompt_tokens).toBeGreaterThan(whole.usage.prompt_tokens + 400);
  });

  test.each(['max_tokens', 'max_completion_tokens'])('honours %s', async (name) => {
    const body = await chat({ [name]: 5 });
    expect(body.choices[0]?.finish_reason).toBe('length');
    expect(body.usage.completion_tokens).toBe(5);
    const chunks = await stream({ [name]: 5 });
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('length');
    expect(textOf(chunks)).toBe(body.choices[0]?.message.content);
  });

  test.each<[string, object]>([
    ['a billion items', { type: 'array', minItems: 1e9 }],
    ['a billion characters', { type: 'array', items: { type: 'string', minLength: 1e9 } }],
    [
      'a large constant time and again',
      { type: 'array', minItems: 5_000, items: { const: 'x'.repeat(50_000) } },
    ],
    [
      'itself, twice in each',
      { required: ['a', 'b'], properties: { a: { $ref: '#' }, b: { $ref: '#' } }, type: 'object' },
    ],
    ['itself, and nothing else', { allOf: [{ $ref: '#' }, { $ref: '#' }] }],
    [
      'two of the next, thirty times over',
      {
        allOf: [{ $ref: '#/$defs/a0' }],
        $defs: Object.fromEntries(
          Array.from({ length: 30 }, (_, i) => {
            const next = { $ref: `#/$defs/a${i + 1}` };
            return [`a${i}`, { allOf: [next, next] }];
          }),
        ),
      },
    ],
    [
      'twenty thousand members in each of two thousand items',
      {
        type: 'array',
        minItems: 2_000,
        items: { $ref: '#/$defs/wide' },
        $defs: {
          wide: {
            type: 'object',
            properties: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`p${i}`, {}])),
          },
        },
      },
    ],
    ['what is no name', { type: 'object', required: [null], properties: { a: { $ref: '#/%' } } }],
  ])('answers a schema that asks for %s', async (_what, schema) => {
    const response_format = { type: 'json_schema', json_schema: { name: 'large', schema } };
    const before = process.cpuUsage();
    const response = await raw({ response_format, n: 4 });
    expect(response.status).toBe(200);
    expect((await response.text()).length).toBeLessThan(500_000);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000);
  });

  test('refuses more log probabilities than it could make in time', async () => {
    const schema = { type: 'string', minLength: 19_000 };
    const response_format = { type: 'json_schema', json_schema: { name: 'long', schema } };
    const before = process.cpuUsage();
    const response = await raw({ response_format, logprobs: true, top_logprobs: 20 });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('top_logprobs')]);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000);
  });

  test('gives n choices that differ, streamed in turns', async () => {
    const body = await chat({ n: 3 });
    const texts = body.choices.map((choice) => choice.message.content);
    expect(new Set(texts).size).toBe(3);
    const chunks = await stream({ n: 3 });
    expect([0, 1, 2].map((index) => textOf(chunks, index))).toEqual(texts);
    expect(body.usage.completion_tokens).toBeGreaterThan((await chat()).usage.completion_tokens);
  });

  test('stops before a stop sequence', async () => {
    const whole = (await chat()).choices[0]!.message.content!;
    const stop = whole.slice(20, 26);
    const body = await chat({ stop: ['never there', stop] });
    expect(body.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: whole.slice(0, whole.indexOf(stop)) },
    });
  });

  const callOf = (chunks: ChunkBody[]) => {
    const calls = chunks.flatMap((chunk) => chunk.choices).flatMap((choice) => choice.delta.tool_calls ?? []);
    return {
      id: calls[0]?.id,
      name: calls[0]?.function.name,
      text: calls.map((call) => call.function.arguments).join(''),
    };
  };

  test('calls the first tool with arguments that fit, whole and streamed', async () => {
    const { message, finish_reason: finish } = (await chat({ tools: [weather, clock] })).choices[0]!;
    const call = message.tool_calls![0]!;
    expect(finish).toBe('tool_calls');
    expect(message.content).toBeNull();
    expect(call.function.name).toBe('get_weather');
    const input = JSON.parse(call.function.arguments) as { city: string; unit: string; days: number };
    expect(typeof input.city).toBe('string');
    expect(['c', 'f']).toContain(input.unit);
    expect(Number.isInteger(input.days) && input.days >= 1 && input.days <= 7).toBe(true);
    const chunks = await stream({ tools: [weather, clock] });
    expect(callOf(chunks)).toEqual({ id: call.id, name: 'get_weather', text: call.function.arguments });
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('tool_calls');
  });

  const named = 'Use get_time and get_weather';
  test('calls every tool that the question names, whole and streamed', async () => {
    const tools = [weather, clock];
    const whole = (await chat({ tools }, named)).choices[0]!.message.tool_calls!;
    expect(whole.map((call) => call.function.name)).toEqual(['get_weather', 'get_time']);
    expect(new Set(whole.map(({ id }) => id)).size).toBe(2);
    const parts = (await stream({ tools }, named)).flatMap(
      ({ choices }) => choices[0]?.delta.tool_calls ?? [],
    );
    const joined = whole.map((_call, at) => {
      const own = parts.filter(({ index }) => index === at);
      const text = own.map((part) => part.function.arguments).join('');
      return { id: own[0]!.id, type: 'function', function: { name: own[0]!.function.name, arguments: text } };
    });
    expect(joined).toEqual(whole);
  });

  test.each([
    ['[[sim calls=3]]', {}, ['get_weather', 'get_weather', 'get_weather']],
    [named, { parallel_tool_calls: false }, ['get_weather']],
    ['[[sim calls=3]]', { parallel_tool_calls: false }, ['get_weather']],
    [`${named} [[sim calls=3]]`, {}, ['get_weather', 'get_time', 'get_weather']],
  ])('makes as many calls as allowed: %s %j', async (question, rest, names) => {
    const { message } = (await chat({ tools: [weather, clock], ...rest }, question)).choices[0]!;
    expect(message.tool_calls!.map((call) => call.function.name)).toEqual(names);
  });

  test('gives the same answer for the same seed, and others for others', async () => {
    const texts = await Promise.all(
      [1, 1, 2, undefined].map(async (seed) =>
        (await chat({ seed, n: 4 })).choices.map((one) => one.message),
      ),
    );
    expect(texts[1]).toEqual(texts[0]);
    expect(texts[2]).not.toEqual(texts[0]);
    expect(texts[3]).not.toEqual(texts[0]);
  });

  test('gives log probabilities whose tokens make up the text, whole and streamed', async () => {
    const asked = { logprobs: true, top_logprobs: 3 };
    const { message, logprobs } = (await chat(asked)).choices[0]!;
    const tokens = logprobs!.content;
    expect(Buffer.from(tokens.flatMap(({ bytes }) => bytes)).toString()).toBe(message.content);
    for (const { token, logprob, top_logprobs: top } of tokens) {
      expect(logprob).toBeLessThan(0);
      expect(top[0]).toMatchObject({ token, logprob });
      expect(new Set(top.map((one) => one.token)).size).toBe(3);
    }
    const streamed = (await stream(asked)).flatMap(({ choices }) => choices[0]?.logprobs?.content ?? []);
    expect(streamed).toEqual(tokens);
    expect((await chat()).choices[0]!.logprobs).toBeNull();
  });

  test('honours tool_choice, and answers in text after a tool has', async () => {
    const tools = [weather, clock];
    const named = await chat({ tools, tool_choice: { type: 'function', function: { name: 'get_time' } } });
    expect(named.choices[0]?.message.tool_calls?.[0]?.function.name).toBe('get_time');
    expect((await chat({ tools, tool_choice: 'none' })).choices[0]?.finish_reason).toBe('stop');
    const messages = [
      { role: 'user', content: `${QUICK} weather?` },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'get_weather', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: '21 degrees' },
    ];
    const after = (await chat({ tools, messages })).choices[0]!;
    expect(after.finish_reason).toBe('stop');
    expect(after.message.content).toContain('21 degrees');
    expect((await chat({ tools, messages, tool_choice: 'required' })).choices[0]?.finish_reason).toBe(
      'tool_calls',
    );
  });

  const calling = (name: string) => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c', type: 'function', function: { name, arguments: '{}' } }],
  });
  const result = (content: unknown = '21 degrees') => ({ role: 'tool', tool_call_id: 'c', content });
  const user = (content: string) => ({ role: 'user', content: `${QUICK} ${content}` });

  test.each<[string, object[]]>([
    ['a user reminds of something', [result(), user('<reminder>Be brief.</reminder>')]],
    ['a user says two things', [result(), user('One.'), user('Two.')]],
    ['the system does', [result(), { role: 'system', content: 'Be brief.' }]],
    ['its result has parts', [result([{ type: 'text', text: '21 degrees' }]), user('And now?')]],
  ])('answers a turn with a tool in text when, after the result, %s', async (_what, after) => {
    const messages = [user('weather?'), calling('get_weather'), ...after];
    const { message, finish_reason: finish } = (await chat({ tools: [weather, clock], messages }))
      .choices[0]!;
    expect([finish, message.content]).toEqual(['stop', expect.stringContaining('21 degrees')]);
  });

  test('calls tools again in the next turn', async () => {
    const answered = [
      user('weather?'),
      calling('get_weather'),
      result(),
      { role: 'assistant', content: '21' },
    ];
    const messages = [...answered, user('And tomorrow?')];
    expect((await chat({ tools: [weather, clock], messages })).choices[0]?.finish_reason).toBe('tool_calls');
  });

  test("calls a tool that it hasn't called in this turn, if it must call one and there is such a tool", async () => {
    const done = { type: 'function', function: { name: 'final_answer', parameters: { type: 'object' } } };
    const tools = [weather, clock, done];
    const messages: object[] = [user('weather?')];
    const step = async () => {
      const { message } = (await chat({ tools, messages, tool_choice: 'required' })).choices[0]!;
      const name = message.tool_calls![0]!.function.name;
      messages.push(calling(name), result());
      return name;
    };
    const first = [await step(), await step()];
    messages.push(user('<reminder>Call final_answer when you are done.</reminder>'));
    expect([...first, await step()]).toEqual(['get_weather', 'get_time', 'final_answer']);
    expect(await step()).toBe('final_answer');
    messages.push({ role: 'assistant', content: 'It is warm.' }, user('And tomorrow?'));
    expect(await step()).toBe('get_weather');
  });

  test('calls none but the allowed tools, and no custom ones', async () => {
    const custom = { type: 'custom', custom: { name: 'run_code', format: { type: 'text' } } };
    const tools = [custom, weather, clock];
    const called = async (rest: object, question = 'hello') =>
      (await chat({ tools, ...rest }, question)).choices[0]!.message.tool_calls?.map(
        (call) => call.function.name,
      );
    const allowed = (mode: string, ...names: string[]) => ({
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode, tools: names.map((name) => ({ type: 'function', function: { name } })) },
      },
    });
    expect(await called({})).toEqual(['get_weather']);
    expect(await called(allowed('auto', 'get_time'), 'use get_weather')).toEqual(['get_time']);
    expect(await called(allowed('required', 'get_time'))).toEqual(['get_time']);
    expect(await called({ tool_choice: { type: 'custom', custom: { name: 'run_code' } } })).toBeUndefined();
    expect(await called({ tools: [custom], tool_choice: 'required' })).toBeUndefined();
  });

  test('answers JSON in JSON mode, and what fits in a schema', async () => {
    const object = JSON.parse(
      (await chat({ response_format: { type: 'json_object' } })).choices[0]!.message.content!,
    );
    expect(object).toMatchObject({ simulated: true });
    const messages = [user('weather?'), calling('get_weather'), result()];
    for (const rest of [{}, { tools: [weather], messages }]) {
      const text = textOf(await stream({ response_format: { type: 'json_object' }, ...rest }));
      expect(JSON.parse(text)).toMatchObject({ simulated: true });
    }
    const schema = {
      type: 'object',
      properties: { steps: { type: 'array', items: { $ref: '#/$defs/step' } } },
      required: ['steps'],
      $defs: { step: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } },
    };
    const response_format = { type: 'json_schema', json_schema: { name: 'plan', strict: true, schema } };
    const plan = JSON.parse(textOf(await stream({ response_format }))) as { steps: { text: string }[] };
    expect(plan.steps.length).toBeGreaterThan(0);
    expect(plan.steps.every(({ text }) => typeof text === 'string')).toBe(true);
  });

  test.each([
    [{ messages: [] }, 'messages'],
    [{ messages: 'x' }, 'messages'],
    [{ n: 0 }, 'n'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ top_logprobs: 2 }, 'top_logprobs'],
    [{ logprobs: true, top_logprobs: 21 }, 'top_logprobs'],
    [{ seed: 1.5 }, 'seed'],
    [{ tools: [{ type: 'x' }] }, 'tools.0.type'],
    [{ model: 'nomic-embed-text' }, 'model'],
  ])("refuses what isn't a chat call: %j", async (rest, param) => {
    const response = await raw(rest);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', param } });
  });
});

/** Whether a value fits; the part of JSON schema that the test's generator uses. */
function fits(schema: Record<string, unknown>, value: unknown, root = schema): boolean {
  if (typeof schema.$ref === 'string')
    return fits((root.$defs as Record<string, Record<string, unknown>>).node!, value, root);
  if (Array.isArray(schema.anyOf)) return schema.anyOf.some((one) => fits(one, value, root));
  if ('const' in schema) return value === schema.const;
  if (Array.isArray(schema.enum)) return schema.enum.includes(value);
  const within = (low: unknown, size: number, high: unknown) =>
    size >= ((low as number) ?? -Infinity) && size <= ((high as number) ?? Infinity);
  switch (schema.type) {
    case 'object': {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
      const properties = schema.properties as Record<string, Record<string, unknown>>;
      return (
        (schema.required as string[]).every((name) => Object.hasOwn(value, name)) &&
        Object.entries(value).every(
          ([name, item]) => Object.hasOwn(properties, name) && fits(properties[name]!, item, root),
        )
      );
    }
    case 'array':
      return (
        Array.isArray(value) &&
        within(schema.minItems, value.length, schema.maxItems) &&
        value.every((item) => fits(schema.items as Record<string, unknown>, item, root))
      );
    case 'integer':
      return Number.isInteger(value) && within(schema.minimum, value as number, schema.maximum);
    case 'number':
      return typeof value === 'number' && within(schema.minimum, value, schema.maximum);
    case 'string':
      return typeof value === 'string' && within(schema.minLength, value.length, schema.maxLength);
    case 'null':
      return value === null;
    default:
      return typeof value === 'boolean';
  }
}

const bounds = fc
  .tuple(fc.integer({ min: -50, max: 50 }), fc.nat(60))
  .map(([minimum, span]) => ({ minimum, maximum: minimum + span }));
const sizes = fc.tuple(fc.nat(4), fc.nat(4));
const anySchema = fc.letrec<{ schema: Record<string, unknown> }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<Record<string, unknown>>(
      { type: 'boolean' },
      { type: 'null' },
      { const: 'fixed' },
      { enum: [1, 'two', null] },
    ),
    bounds.map((range) => ({ type: 'integer', ...range })),
    bounds.map((range) => ({ type: 'number', ...range })),
    sizes.map(([low, more]) => ({ type: 'string', minLength: low * 9, maxLength: low * 9 + more })),
    fc.constant({ anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] }),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    fc
      .tuple(tie('schema'), sizes)
      .map(([items, [low, more]]) => ({ type: 'array', items, minItems: low, maxItems: low + more })),
    fc
      .dictionary(
        fc.string({ minLength: 1 }).filter((name) => name !== '__proto__'),
        tie('schema'),
        { maxKeys: 4, noNullPrototype: true },
      )
      .map((properties) => ({
        type: 'object',
        properties,
        required: Object.keys(properties).slice(1),
        additionalProperties: false,
      })),
  ),
}));

test('a value made for a JSON schema fits it, recursive ones included', () => {
  fc.assert(
    fc.property(anySchema.schema, fc.string(), (schema, seed) => {
      const node = {
        type: 'object',
        properties: {
          name: { type: 'string' },
          next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
        },
        required: ['name', 'next'],
      };
      const whole = { ...schema, $defs: { node } };
      const value = JSON.parse(JSON.stringify(valueFor(whole, chanceOf(seed), ['Lisbon'])));
      expect(fits(whole, value)).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});
