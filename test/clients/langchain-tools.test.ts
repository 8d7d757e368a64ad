import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { z } from 'zod';
import { chatOf } from './langchain-support.js';
import { FAST, useClients, watchedFetch } from './support.js';

const suite = useClients();
const weather = tool(({ city }: { city: string }) => `Sunny in ${city}`, {
  name: 'weather',
  description: 'Tells the weather.',
  schema: z.object({ city: z.string() }),
});
const plan = z.object({ title: z.string(), days: z.number().int().min(1).max(30), urgent: z.boolean() });

describe('langchain: tools and structure', () => {
  test('bindTools: the call, the tool, the answer', async () => {
    const model = chatOf(suite).bindTools([weather]);
    const question = new HumanMessage(`${FAST} Weather in Braga?`);
    const first = await model.invoke([question]);
    const [call] = first.tool_calls!;
    expect(call).toMatchObject({ name: 'weather', args: { city: expect.any(String) } });
    const result = (await weather.invoke({ ...call!, type: 'tool_call' })) as ToolMessage;
    const second = await model.invoke([question, first, result]);
    expect(second.text).toContain(`Sunny in ${(call!.args as { city: string }).city}`);
    expect(second.tool_calls).toEqual([]);
  });

  test('bindTools: the call out of a stream', async () => {
    const model = chatOf(suite).bindTools([weather]);
    const parts: string[] = [];
    for await (const { tool_call_chunks: chunks } of await model.stream(`${FAST} Weather in Evora?`)) {
      for (const { args } of chunks ?? []) parts.push(args ?? '');
    }
    expect(parts.length).toBeGreaterThan(1);
    expect(JSON.parse(parts.join(''))).toEqual({ city: expect.any(String) });
  });

  test.each(['jsonSchema', 'functionCalling', 'jsonMode'] as const)(
    'withStructuredOutput by %s sends what it should',
    async (method) => {
      const { fetch, calls } = watchedFetch();
      const schema = method === 'jsonMode' ? z.looseObject({ simulated: z.literal(true) }) : plan;
      const model = chatOf(suite, {}, fetch).withStructuredOutput<Record<string, unknown>>(schema, {
        method,
      });
      const value = await model.invoke(`${FAST} Plan a trip`);
      expect(schema.parse(value)).toEqual(value);
      const { response_format: format, tools } = calls[0]!.body as {
        response_format?: { type: string };
        tools?: unknown[];
      };
      expect([format?.type, tools?.length]).toEqual(
        {
          jsonSchema: ['json_schema', undefined],
          functionCalling: [undefined, 1],
          jsonMode: ['json_object', undefined],
        }[method],
      );
    },
  );
});
