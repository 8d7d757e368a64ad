import assert from 'node:assert/strict';
import { HumanMessage, SystemMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { concat } from '@langchain/core/utils/stream';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { z } from 'zod';
import { checkForms } from '../lib/forms.mjs';
import { ledgerOf } from '../lib/ledger.mjs';

const FAST = '[[sim ttft_ms=1 chunk_ms=0]]';
const MODEL = 'gateway/qwen-pro';
const PLAN = z.object({ title: z.string(), days: z.number().int().min(1).max(30), urgent: z.boolean() });
const toolOf = (name) =>
  tool(({ place }) => `${name} of ${place}`, {
    name,
    description: `Tells the ${name}.`,
    schema: z.object({ place: z.string() }),
  });

/** What each way of asking for an object sends: the type of `response_format` and the number of tools. */
const STRUCTURED = {
  jsonSchema: ['json_schema', 0],
  functionCalling: [undefined, 1],
  jsonMode: ['json_object', 0],
};

export async function run(checks, product) {
  let sent;
  const configuration = {
    baseURL: `${product.url}/v1`,
    fetch: (url, init) => {
      sent = JSON.parse(init.body);
      return fetch(url, init);
    },
  };
  const chatOf = (fields = {}) =>
    new ChatOpenAI({ model: MODEL, apiKey: product.key, maxRetries: 0, configuration, ...fields });
  const chat = chatOf();
  const tools = [toolOf('weather'), toolOf('clock')];
  const ledger = ledgerOf(product);

  await checks.check('invoke answers, with the usage that is billed', async () => {
    const mark = await ledger.mark();
    const answer = await chat.invoke([
      new SystemMessage('Be brief.'),
      new HumanMessage(`${FAST} What is a chain?`),
    ]);
    assert.match(answer.text, /chain/);
    const { input_tokens: input, output_tokens: output, total_tokens: total } = answer.usage_metadata;
    assert.equal(total, input + output);
    assert.deepEqual(await ledger.since(mark, 1), [{ model: MODEL, input, output }]);
  });
  await checks.check('stream asks for usage, and its chunks join to the answer with it', async () => {
    const mark = await ledger.mark();
    let whole;
    let chunks = 0;
    for await (const chunk of await chat.stream(`${FAST} Stream a chain`)) {
      whole = whole ? concat(whole, chunk) : chunk;
      chunks++;
    }
    assert.ok(chunks > 10);
    assert.match(whole.text, /chain/);
    const { input_tokens: input, output_tokens: output } = whole.usage_metadata;
    assert.deepEqual(await ledger.since(mark, 1), [{ model: MODEL, input, output }]);
  });
  await checks.check('batch makes calls at once, each billed', async () => {
    const mark = await ledger.mark();
    const answers = await chat.batch(['one', 'two', 'three'].map((word) => `${FAST} Say ${word}`));
    assert.ok(answers.every(({ text }) => text.length > 0));
    assert.equal((await ledger.since(mark, 3)).length, 3);
  });
  await checks.check('a refusal surfaces with its status and words', async () => {
    await assert.rejects(chatOf({ apiKey: 'sk-pr-nonsense' }).invoke(FAST), {
      status: 401,
      message: /API key/,
    });
    await assert.rejects(chatOf({ model: 'gpt-4o' }).invoke(FAST), {
      status: 403,
      message: /There is no model "gpt-4o" here/,
    });
  });
  await checks.check('bindTools: several calls at once, their results, the answer', async () => {
    const model = chat.bindTools(tools);
    const question = new HumanMessage(`${FAST} Use weather and clock`);
    const first = await model.invoke([question]);
    assert.deepEqual(
      first.tool_calls.map(({ name }) => name),
      ['weather', 'clock'],
    );
    const results = await Promise.all(
      first.tool_calls.map((call, at) => tools[at].invoke({ ...call, type: 'tool_call' })),
    );
    const second = await model.invoke([question, first, ...results]);
    assert.match(second.text, /clock of/);
    assert.deepEqual(second.tool_calls, []);
  });
  await checks.check('bindTools: the calls out of a stream', async () => {
    let whole;
    for await (const chunk of await chat.bindTools(tools).stream(`${FAST} Use weather and clock`))
      whole = whole ? concat(whole, chunk) : chunk;
    assert.deepEqual(
      whole.tool_calls.map(({ name }) => name),
      ['weather', 'clock'],
    );
    assert.ok(whole.tool_calls.every(({ args }) => typeof args.place === 'string'));
  });
  for (const [method, form] of Object.entries(STRUCTURED))
    await checks.check(`withStructuredOutput by ${method}`, async () => {
      const schema = method === 'jsonMode' ? z.looseObject({ simulated: z.literal(true) }) : PLAN;
      const value = await chat.withStructuredOutput(schema, { method }).invoke(`${FAST} Plan a trip`);
      assert.deepEqual(schema.parse(value), value);
      assert.deepEqual([sent.response_format?.type, sent.tools?.length ?? 0], form);
    });
  await checks.check('embedDocuments goes in batches, with the vectors of single queries', async () => {
    const embeddings = new OpenAIEmbeddings({
      model: 'gateway/embed',
      apiKey: product.key,
      batchSize: 2,
      configuration,
    });
    const texts = ['first text', 'second text', 'third text'];
    const mark = await ledger.mark();
    const vectors = await embeddings.embedDocuments(texts);
    assert.deepEqual(
      vectors.map(({ length }) => length),
      [768, 768, 768],
    );
    assert.equal((await ledger.since(mark, 2)).length, 2);
    for (const [at, text] of texts.entries())
      assert.deepEqual(Array.from(await embeddings.embedQuery(text)), Array.from(vectors[at]));
  });
  await checks.check('embeddings of fewer dimensions', async () => {
    const embeddings = new OpenAIEmbeddings({
      model: 'gateway/embed',
      apiKey: product.key,
      dimensions: 128,
      configuration,
    });
    assert.equal((await embeddings.embedQuery('short')).length, 128);
  });
  const embeddings = new OpenAIEmbeddings({
    model: 'gateway/embed',
    apiKey: product.key,
    maxRetries: 0,
    configuration,
  });
  await checkForms(checks, {
    chat: async (prompt) => (await chat.invoke(prompt)).text,
    stream: async (prompt) => {
      let text = '';
      for await (const chunk of await chat.stream(prompt)) text += chunk.text;
      return text;
    },
    embed: async (text) => Array.from(await embeddings.embedQuery(text)),
  });
}
