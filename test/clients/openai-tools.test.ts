import type { ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources/chat/completions';
import { FAST, useClients } from './support.js';

const suite = useClients();

const parameters = {
  type: 'object' as const,
  properties: {
    city: { type: 'string' as const },
    days: { type: 'integer' as const, minimum: 1, maximum: 7 },
  },
  required: ['city', 'days'],
  additionalProperties: false,
};
const weather: ChatCompletionTool = {
  type: 'function',
  function: { name: 'weather', description: 'Tells the weather.', parameters, strict: true },
};
const question: ChatCompletionMessageParam = { role: 'user', content: `${FAST} Weather in Lisbon tomorrow?` };

interface Arguments {
  city: string;
  days: number;
}

/** What `runTools` needs; `asked` collects the arguments. */
const runnable = (asked: Arguments[]) => ({
  type: 'function' as const,
  function: {
    name: 'weather',
    description: 'Tells the weather.',
    parameters,
    parse: (text: string) => JSON.parse(text) as Arguments,
    function: (input: Arguments) => {
      asked.push(input);
      return `Sunny in ${input.city}.`;
    },
  },
});

describe('openai: tools', () => {
  test('a tool call is returned whole, and its result gets an answer', async () => {
    const client = suite.openai();
    const before = await suite.balance();
    const first = await client.chat.completions.create({
      model: 'gateway/fast',
      messages: [question],
      tools: [weather],
    });
    const { message, finish_reason: reason } = first.choices[0]!;
    expect(reason).toBe('tool_calls');
    expect(message.content).toBeNull();
    const call = message.tool_calls![0]!;
    if (call.type !== 'function') throw new Error('not a function call');
    expect(call.function.name).toBe('weather');
    expect(JSON.parse(call.function.arguments)).toEqual({
      city: expect.any(String),
      days: expect.any(Number),
    });
    // The assistant's message goes back with its `content: null`, as SDKs replay it.
    const second = await client.chat.completions.create({
      model: 'gateway/fast',
      messages: [question, message, { role: 'tool', tool_call_id: call.id, content: 'Sunny, 24 degrees.' }],
      tools: [weather],
    });
    expect(second.choices[0]!.message.content).toContain('Sunny, 24 degrees.');
    const spent = [first, second].map(({ usage }) => ({
      model: 'gateway/fast',
      input: usage!.prompt_tokens,
      output: usage!.completion_tokens,
    }));
    expect(before - (await suite.balance())).toBe(await suite.priceOf(spent));
  });

  test('runTools runs the loop', async () => {
    const asked: Arguments[] = [];
    const runner = suite.openai().chat.completions.runTools({
      model: 'gateway/fast',
      messages: [question],
      tools: [runnable(asked)],
    });
    expect(await runner.finalContent()).toContain(`Sunny in ${asked[0]!.city}.`);
    expect(asked).toHaveLength(1);
    expect(runner.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });

  test('runTools runs the loop over streams', async () => {
    const asked: Arguments[] = [];
    const runner = suite.openai().chat.completions.runTools({
      model: 'gateway/fast',
      messages: [question],
      tools: [runnable(asked)],
      stream: true,
    });
    expect(await runner.finalContent()).toContain(`Sunny in ${asked[0]!.city}.`);
    expect(asked).toHaveLength(1);
    expect(asked[0]!.days).toBeGreaterThanOrEqual(1);
  });

  test('the deltas of a streamed tool call join to the call of the whole answer', async () => {
    const client = suite.openai();
    const asked = { model: 'gateway/fast', messages: [question], tools: [weather] };
    const whole = await client.chat.completions.create(asked);
    const stream = await client.chat.completions.create({ ...asked, stream: true });
    let id = '';
    let name = '';
    let input = '';
    let deltas = 0;
    for await (const { choices } of stream) {
      for (const call of choices[0]?.delta.tool_calls ?? []) {
        expect(call.index).toBe(0);
        id += call.id ?? '';
        name += call.function?.name ?? '';
        input += call.function?.arguments ?? '';
        deltas++;
      }
    }
    expect(deltas).toBeGreaterThan(2);
    expect(whole.choices[0]!.message.tool_calls).toEqual([
      { id, type: 'function', function: { name, arguments: input } },
    ]);
  });

  test('several tool calls at once are the same whole and put together from a stream by the SDK', async () => {
    const client = suite.openai();
    const clock: ChatCompletionTool = { type: 'function', function: { name: 'clock', parameters } };
    const content = `${FAST} Use weather and clock`;
    const asked = {
      model: 'gateway/fast',
      messages: [{ role: 'user' as const, content }],
      tools: [weather, clock],
    };
    const whole = (await client.chat.completions.create(asked)).choices[0]!.message.tool_calls;
    expect(whole).toMatchObject([{ function: { name: 'weather' } }, { function: { name: 'clock' } }]);
    const { tool_calls: joined } = await client.chat.completions.stream(asked).finalMessage();
    expect(joined).toMatchObject(whole!);
    const one = await client.chat.completions.create({ ...asked, parallel_tool_calls: false });
    expect(one.choices[0]!.message.tool_calls).toHaveLength(1);
  });

  test('tool_choice reaches the node: none and a named tool', async () => {
    const client = suite.openai();
    const clock: ChatCompletionTool = { type: 'function', function: { name: 'clock', parameters: {} } };
    const asked = { model: 'gateway/fast', messages: [question], tools: [weather, clock] };
    const none = await client.chat.completions.create({ ...asked, tool_choice: 'none' });
    expect(none.choices[0]!.message.tool_calls).toBeUndefined();
    const named = await client.chat.completions.create({
      ...asked,
      tool_choice: { type: 'function', function: { name: 'clock' } },
    });
    expect(named.choices[0]!.message.tool_calls).toMatchObject([{ function: { name: 'clock' } }]);
  });
});
