import assert from 'node:assert/strict';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { checkForms } from '../lib/forms.mjs';

const FAST = '[[sim ttft_ms=1 chunk_ms=0]]';
const PLAN = z.object({ title: z.string(), days: z.number().int() });

export async function run(checks, { url, key }) {
  const agentOf = ({ apiKey = key, ...rest } = {}) =>
    new Agent({
      id: 'guide',
      name: 'Guide',
      instructions: 'Be brief.',
      model: createOpenAICompatible({
        name: 'gateway',
        baseURL: `${url}/v1`,
        apiKey,
        includeUsage: true,
        supportsStructuredOutputs: true,
      })('gateway/qwen-pro'),
      maxRetries: 0,
      ...rest,
    });
  const toolOf = (id, ran) =>
    createTool({
      id,
      description: `Tells the ${id}.`,
      inputSchema: z.object({ place: z.string() }),
      outputSchema: z.object({ told: z.string() }),
      execute: async () => {
        ran.push(id);
        return { told: `${id} is known` };
      },
    });

  await checks.check('an agent answers, with usage', async () => {
    const { text, usage } = await agentOf().generate(`${FAST} About rivers`);
    assert.match(text, /rivers/);
    assert.ok(usage.totalTokens > 0);
  });
  await checks.check('and streams the same text', async () => {
    const { text } = await agentOf().generate(`${FAST} About rivers`);
    let joined = '';
    for await (const part of (await agentOf().stream(`${FAST} About rivers`)).textStream) joined += part;
    assert.equal(joined, text);
  });
  await checks.check('it runs several tools in one step, and answers with what they told', async () => {
    const ran = [];
    const tools = { weather: toolOf('weather', ran), clock: toolOf('clock', ran) };
    const { text } = await agentOf({ tools }).generate(`${FAST} Use weather and clock`, { maxSteps: 3 });
    assert.deepEqual(ran.toSorted(), ['clock', 'weather']);
    assert.match(text, /is known/);
  });
  await checks.check('structured output', async () => {
    const { object } = await agentOf().generate(`${FAST} Plan a trip`, {
      structuredOutput: { schema: PLAN },
    });
    assert.deepEqual(PLAN.parse(object), object);
  });
  await checks.check('a model by address and key, without a provider’s package', async () => {
    const model = { providerId: 'gateway', modelId: 'gateway/qwen-pro', url: `${url}/v1`, apiKey: key };
    const { text } = await agentOf({ model }).generate(`${FAST} About lakes`);
    assert.match(text, /lakes/);
  });
  await checks.check('a wrong key is told', () =>
    assert.rejects(agentOf({ apiKey: 'sk-pr-nonsense' }).generate(`${FAST} Hello`), /API key/),
  );
  await checkForms(checks, {
    chat: async (prompt) => (await agentOf().generate(prompt)).text,
    stream: async (prompt) => {
      const streamed = await agentOf().stream(prompt);
      let text = '';
      for await (const part of streamed.textStream) text += part;
      if (streamed.error) throw streamed.error;
      return text;
    },
  });
}
