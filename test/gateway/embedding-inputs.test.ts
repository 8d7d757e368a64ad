import { createTestKey, errorOf, type TestKey, usageOf } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { embeddings } from '../support/scripted-upstream.js';

const MOST = 2_048;
const texts = (count: number, one = '"a"'): string => `[${Array(count).fill(one).join()}]`;

/** One answer holds no more vectors than this; what asks for more is refused before anything is held or asked. */
describe('the inputs of an embeddings call', () => {
  const suite = useEdge();
  let caller: TestKey;
  beforeAll(async () => {
    caller = await createTestKey(suite.db);
    suite.upstream.answer(embeddings({ usage: { prompt_tokens: 1, total_tokens: 1 } }));
  });

  const embed = (input: string, rest = '') =>
    fetch(`${suite.edge.url}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json' },
      body: `{"model":"gateway/embed", "input" : ${input}${rest}}`,
    });

  test.each([
    ['texts', texts(MOST)],
    ['lists of tokens', texts(MOST, '[1,2]')],
    ['the tokens of one text', texts(5_000, '7')],
    ['texts with commas, quotes and brackets', texts(MOST, String.raw`"],[\",\\"`)],
    ['texts in a body that is not parsed', texts(MOST, `"${'x'.repeat(100)}" `)],
  ])('may be this many: %s', async (_what, input) => {
    expect((await embed(input)).status).toBe(200);
  });

  test.each([
    ['texts', texts(MOST + 1)],
    ['lists of tokens', texts(MOST + 1, '[1]')],
    ['texts with spaces between', texts(MOST + 1, ' "a" ')],
    ['texts in a body that is not parsed', texts(MOST + 1, `"${'x'.repeat(100)}"`)],
    ['texts in a body of megabytes', texts(9_000, `"${'x'.repeat(1_000)}"`)],
  ])('are refused if there are more: %s', async (_what, input) => {
    const before = suite.upstream.seen.length;
    const response = await embed(input);
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toEqual({
      message: '"input" has more than 2,048 entries. Send them in several requests.',
      type: 'invalid_request_error',
      param: 'input',
      code: 'invalid_body',
    });
    expect(suite.upstream.seen).toHaveLength(before);
  });

  test('are refused if their vectors would exceed an answer', async () => {
    const before = suite.upstream.seen.length;
    const response = await embed(texts(700), ',"dimensions":4096');
    expect(response.status).toBe(400);
    const { message, param } = await errorOf(response);
    expect([message, param]).toEqual([
      'With 4096 dimensions, "input" may have at most 682 entries. Send them in several requests.',
      'input',
    ]);
    expect((await errorOf(await embed('"a"', ',"dimensions":1e9'))).param).toBe('dimensions');
    expect(suite.upstream.seen).toHaveLength(before);
    expect((await embed(texts(682), ',"dimensions":4096')).status).toBe(200);
  });

  test.each(['[]', '[ ]'])('may not be empty: %s', async (input) => {
    const response = await embed(input);
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: expect.objectContaining({ code: 'invalid_body', param: 'input' }) },
    ]);
  });

  test('that are refused cost nothing', async () => {
    await suite.edge.settled();
    const before = (await usageOf(suite.db, caller.accountId)).length;
    await embed(texts(MOST + 1));
    await suite.edge.settled();
    expect(await usageOf(suite.db, caller.accountId)).toHaveLength(before);
  });
});
