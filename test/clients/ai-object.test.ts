import { generateText, Output, streamText } from 'ai';
import { z } from 'zod';
import { providerOf } from './ai-support.js';
import { FAST, useClients, watchedFetch } from './support.js';

const suite = useClients();
const schema = z.object({
  title: z.string(),
  steps: z.array(z.object({ nr: z.number().int().min(1).max(9), done: z.boolean() })).min(1),
});

describe('ai: objects', () => {
  test('Output.object fits its schema, sent as json_schema', async () => {
    const { fetch, calls } = watchedFetch();
    const { output } = await generateText({
      model: providerOf(suite, undefined, fetch)('gateway/qwen-pro'),
      output: Output.object({ schema }),
      prompt: `${FAST} A plan for moving house`,
    });
    expect(calls[0]!.body.response_format).toMatchObject({ type: 'json_schema' });
    expect(schema.parse(output)).toEqual(output);
  });

  test('Output.object grows while it streams', async () => {
    const result = streamText({
      model: providerOf(suite)('gateway/qwen-pro'),
      output: Output.object({ schema }),
      prompt: `${FAST} A plan for moving house`,
    });
    let partials = 0;
    for await (const _partial of result.partialOutputStream) partials++;
    expect(partials).toBeGreaterThan(1);
    const output = await result.output;
    expect(schema.parse(output)).toEqual(output);
  });
});
