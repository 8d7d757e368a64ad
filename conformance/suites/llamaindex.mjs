import assert from 'node:assert/strict';
import { tool } from '@llamaindex/core/tools';
import { OpenAI, OpenAIEmbedding } from '@llamaindex/openai';
import { z } from 'zod';
import { checkForms } from '../lib/forms.mjs';

const FAST = '[[sim ttft_ms=1 chunk_ms=0]]';
const toolOf = (name, ran) =>
  tool({
    name,
    description: `Tells the ${name}.`,
    parameters: z.object({ place: z.string() }),
    execute: ({ place }) => {
      ran.push(name);
      return `${name} of ${place}`;
    },
  });
const ask = (content) => [{ role: 'user', content: `${FAST} ${content}` }];

export async function run(checks, { url, key }) {
  const llmOf = (rest = {}) =>
    new OpenAI({ model: 'gateway/qwen-pro', apiKey: key, baseURL: `${url}/v1`, maxRetries: 0, ...rest });
  const llm = llmOf();

  await checks.check('chat', async () => {
    const { message, raw } = await llm.chat({ messages: ask('About rivers') });
    assert.match(message.content, /rivers/);
    assert.ok(raw.usage.total_tokens > 0);
  });
  await checks.check('stream gives the same text', async () => {
    const { message } = await llm.chat({ messages: ask('About rivers') });
    let text = '';
    for await (const { delta } of await llm.chat({ messages: ask('About rivers'), stream: true }))
      text += delta;
    assert.equal(text, message.content);
  });
  await checks.check('exec runs several tools at once, and their results lead to an answer', async () => {
    const ran = [];
    const tools = [toolOf('weather', ran), toolOf('clock', ran)];
    const messages = ask('Use weather and clock');
    const { newMessages, toolCalls } = await llm.exec({ messages, tools });
    assert.deepEqual(
      toolCalls.map(({ name }) => name),
      ['weather', 'clock'],
    );
    assert.deepEqual(ran, ['weather', 'clock']);
    const { message } = await llm.chat({ messages: [...messages, ...newMessages], tools });
    assert.match(message.content, /clock of/);
  });
  await checks.check('JSON schema', async () => {
    const schema = z.object({ title: z.string(), days: z.number().int() });
    const { message } = await llm.chat({ messages: ask('Plan a trip'), responseFormat: schema });
    const plan = JSON.parse(message.content);
    assert.deepEqual(schema.parse(plan), plan);
  });
  const embeddingOf = (rest = {}) =>
    new OpenAIEmbedding({
      model: 'gateway/embed',
      apiKey: key,
      baseURL: `${url}/v1`,
      maxRetries: 0,
      ...rest,
    });
  await checks.check('embeddings in batches, with dimensions', async () => {
    const vectors = await embeddingOf({ embedBatchSize: 2 }).getTextEmbeddingsBatch(['one', 'two', 'three']);
    assert.deepEqual(
      vectors.map(({ length }) => length),
      [768, 768, 768],
    );
    assert.deepEqual(await embeddingOf().getTextEmbedding('two'), vectors[1]);
    assert.equal((await embeddingOf({ dimensions: 32 }).getTextEmbedding('two')).length, 32);
  });
  await checks.check('a wrong key surfaces with its status', () =>
    assert.rejects(llmOf({ apiKey: 'sk-pr-nonsense' }).chat({ messages: ask('Hello') }), { status: 401 }),
  );
  await checkForms(checks, {
    chat: async (content) => (await llm.chat({ messages: ask(content) })).message.content,
    stream: async (content) => {
      let text = '';
      for await (const { delta } of await llm.chat({ messages: ask(content), stream: true })) text += delta;
      return text;
    },
    embed: (text) => embeddingOf().getTextEmbedding(text),
  });
}
