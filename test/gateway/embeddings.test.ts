import { createTestKey, errorOf, usageOf } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { raw } from '../support/scripted-upstream.js';

const VECTOR = [0.25, -0.5, 1, 0];
const BASE64 = Buffer.from(new Float32Array(VECTOR).buffer).toString('base64');
const answer = (embedding: unknown) =>
  JSON.stringify({
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding }],
    model: 'gateway/embed',
    usage: { prompt_tokens: 7, total_tokens: 7 },
  });

describe('an embeddings call', () => {
  const suite = useEdge();
  const embed = async (key: string, fields: Record<string, unknown> = {}) =>
    fetch(`${suite.edge.url}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'gateway/embed', input: 'a text', ...fields }),
    });

  test('is charged by its input tokens', async () => {
    const { key, accountId } = await createTestKey(suite.db);
    suite.upstream.answer(raw(200, answer(VECTOR)));
    expect((await embed(key)).status).toBe(200);
    await suite.edge.settled();
    expect(await usageOf(suite.db, accountId)).toEqual([
      expect.objectContaining({
        endpoint: 'embeddings',
        input_tokens: 7,
        output_tokens: 0,
        cost: '0.000000350000',
        status: 'success',
        estimated: false,
      }),
    ]);
  });

  test('that asks for a stream is refused with 400', async () => {
    const { key } = await createTestKey(suite.db);
    const response = await embed(key, { stream: true });
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ code: 'invalid_body', param: 'stream' });
  });

  test.each([
    ['float', VECTOR, 'float', VECTOR],
    ['base64', BASE64, 'base64', BASE64],
    ['floats', VECTOR, 'base64', BASE64],
    ['base64', BASE64, 'float', VECTOR],
    ['base64', BASE64, undefined, VECTOR],
  ])(
    'whose upstream answers with %s is returned in the requested encoding',
    async (_form, upstream, wanted, expected) => {
      const { key } = await createTestKey(suite.db);
      suite.upstream.answer(raw(200, answer(upstream)));
      const response = await embed(key, { encoding_format: wanted });
      const body = await response.text();
      expect(JSON.parse(body).data[0].embedding).toEqual(expected);
      if (upstream === expected) expect(body).toBe(answer(upstream));
    },
  );
});
