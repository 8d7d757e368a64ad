import assert from 'node:assert/strict';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, embed, embedMany, generateText, isStepCount, Output, streamText, tool } from 'ai';
import { z } from 'zod';
import { checkForms } from '../lib/forms.mjs';

const FAST = '[[sim ttft_ms=1 chunk_ms=0]]';
const PLAN = z.object({ title: z.string(), days: z.number().int().min(1).max(30) });

export async function run(checks, { url, key }) {
  const providerOf = (apiKey = key) =>
    createOpenAICompatible({
      name: 'gateway',
      baseURL: `${url}/v1`,
      apiKey,
      includeUsage: true,
      supportsStructuredOutputs: true,
    });
  const provider = providerOf();
  const model = provider('gateway/qwen-pro');
  const toolsOf = (ran) =>
    Object.fromEntries(
      ['weather', 'clock'].map((name) => [
        name,
        tool({
          description: `The ${name}.`,
          inputSchema: z.object({ place: z.string() }),
          execute: ({ place }) => {
            ran.push(name);
            return `known in ${place}`;
          },
        }),
      ]),
    );

  await checks.check('generateText, with usage', async () => {
    const { text, usage, finishReason } = await generateText({ model, prompt: `${FAST} About rivers` });
    assert.match(text, /rivers/);
    assert.equal(finishReason, 'stop');
    assert.equal(usage.totalTokens, usage.inputTokens + usage.outputTokens);
  });
  await checks.check('streamText gives the same text', async () => {
    const { text } = await generateText({ model, prompt: `${FAST} About rivers` });
    const streamed = streamText({ model, prompt: `${FAST} About rivers` });
    let joined = '';
    for await (const part of streamed.textStream) joined += part;
    assert.equal(joined, text);
    assert.ok((await streamed.usage).totalTokens > 0);
  });
  for (const [name, generate] of [
    ['generateText', (settings) => generateText(settings)],
    [
      'streamText',
      async (settings) => {
        const result = streamText(settings);
        await result.consumeStream();
        return { steps: await result.steps };
      },
    ],
  ])
    await checks.check(`${name} runs several tools in one step`, async () => {
      const ran = [];
      const { steps } = await generate({
        model,
        tools: toolsOf(ran),
        stopWhen: isStepCount(3),
        prompt: `${FAST} Use weather and clock`,
      });
      assert.deepEqual(ran.toSorted(), ['clock', 'weather']);
      assert.deepEqual(
        steps.map(({ toolCalls }) => toolCalls.length),
        [2, 0],
      );
      assert.match(steps[1].text, /known in/);
    });
  await checks.check('Output.object, whole and streamed', async () => {
    const settings = { model, output: Output.object({ schema: PLAN }), prompt: `${FAST} Plan a trip` };
    const { output } = await generateText(settings);
    assert.deepEqual(PLAN.parse(output), output);
    assert.deepEqual(await streamText(settings).output, output);
  });
  await checks.check('embedMany, with dimensions', async () => {
    const embedder = provider.embeddingModel('gateway/embed');
    const whole = await embedMany({ model: embedder, values: ['one', 'two'] });
    assert.deepEqual(
      whole.embeddings.map(({ length }) => length),
      [768, 768],
    );
    const short = await embedMany({
      model: embedder,
      values: ['one'],
      providerOptions: { gateway: { dimensions: 64 } },
    });
    assert.equal(short.embeddings[0].length, 64);
  });
  await checks.check('a wrong key is an APICallError that is not tried again', () =>
    assert.rejects(
      generateText({ model: providerOf('sk-pr-nonsense')('gateway/fast'), prompt: FAST }),
      (error) => APICallError.isInstance(error) && error.statusCode === 401 && !error.isRetryable,
    ),
  );
  const once = { maxRetries: 0 };
  await checkForms(checks, {
    chat: async (prompt) => (await generateText({ model, prompt, ...once })).text,
    stream: async (prompt) => {
      let text = '';
      for await (const part of streamText({ model, prompt, onError: () => undefined, ...once }).fullStream) {
        if (part.type === 'error') throw part.error;
        if (part.type === 'text-delta') text += part.text;
      }
      return text;
    },
    embed: async (value) =>
      (await embed({ model: provider.embeddingModel('gateway/embed'), value, ...once })).embedding,
  });
}
