import { useClients, watchedFetch } from './support.js';

const suite = useClients();

const norm = (vector: number[]): number => Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0));
const similarity = (left: number[], right: number[]): number =>
  left.reduce((sum, x, at) => sum + x * right[at]!, 0);

describe('openai: embeddings', () => {
  test('the default, base64, decodes to the same numbers as float', async () => {
    const { fetch, calls } = watchedFetch();
    const client = suite.openai({ fetch });
    const input = 'A ledger never forgets';
    const decoded = await client.embeddings.create({ model: 'gateway/embed', input });
    const floats = await client.embeddings.create({
      model: 'gateway/embed',
      input,
      encoding_format: 'float',
    });
    expect(calls.map(({ body }) => body.encoding_format)).toEqual(['base64', 'float']);
    expect(decoded.data[0]!.embedding).toHaveLength(768);
    expect(floats.data[0]!.embedding).toHaveLength(768);
    expect(Array.from(decoded.data[0]!.embedding)).toEqual(floats.data[0]!.embedding);
    expect(norm(floats.data[0]!.embedding)).toBeCloseTo(1, 5);
  });

  test.each([
    ['base64', 'float'],
    ['float', 'base64'],
  ] as const)('whoever asks for %s gets it from a node that answers %s', async (asked, answered) => {
    const client = suite.openai();
    const input = `[[sim encoding=${answered}]] Either way`;
    const direct = await client.embeddings.create({ model: 'gateway/embed', input: 'Either way' });
    const answer = await client.embeddings.create({
      model: 'gateway/embed',
      input,
      encoding_format: asked,
    });
    // Asked for explicitly, the SDK gives base64 as it came.
    const vector: unknown = answer.data[0]!.embedding;
    const numbers =
      typeof vector === 'string'
        ? [...new Float32Array(Uint8Array.from(Buffer.from(vector, 'base64')).buffer)]
        : vector;
    expect(typeof vector).toBe(asked === 'base64' ? 'string' : 'object');
    expect(numbers).toEqual(Array.from(direct.data[0]!.embedding));
  });

  test('a batch keeps its order, and texts that are alike are close', async () => {
    const { data } = await suite.openai().embeddings.create({
      model: 'gateway/embed',
      input: ['paying an invoice', 'the invoice was paid', 'whales sing at night'],
    });
    expect(data.map(({ index }) => index)).toEqual([0, 1, 2]);
    const [one, two, three] = data.map(({ embedding }) => Array.from(embedding));
    expect(similarity(one!, two!)).toBeGreaterThan(similarity(one!, three!) + 0.1);
  });

  test('input tokens are charged, and nothing else', async () => {
    const before = await suite.balance();
    const { usage, model } = await suite.openai().embeddings.create({
      model: 'gateway/embed',
      input: Array.from({ length: 100 }, (_, nth) => `Sentence number ${nth} of a larger batch`),
    });
    expect(model).toBe('gateway/embed');
    expect(usage.prompt_tokens).toBeGreaterThan(100);
    const cost = await suite.priceOf([{ model, input: usage.prompt_tokens, output: 0 }]);
    expect(before - (await suite.balance())).toBe(cost);
    expect((await suite.usage()).at(-1)).toMatchObject({
      endpoint: 'embeddings',
      stream: false,
      input_tokens: usage.prompt_tokens,
      output_tokens: 0,
    });
  });

  test("tokens instead of text, and the model's dimensions, are accepted", async () => {
    const { data } = await suite.openai().embeddings.create({
      model: 'gateway/embed',
      input: [1, 22, 333],
      dimensions: 768,
    });
    expect(data).toHaveLength(1);
    expect(data[0]!.embedding).toHaveLength(768);
  });
});
