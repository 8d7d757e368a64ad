import { DIMENSIONS, embed, toBase64 } from '../../src/proxy/simulator/embedding.js';
import { anyText } from '../support/any-text.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import fc from '../support/fast-check.js';
import { startTestProxy, type TestProxy } from '../support/proxy.js';
import { post } from './support.js';

const dot = (left: ArrayLike<number>, right: ArrayLike<number>): number =>
  Array.from(left).reduce((sum, value, index) => sum + value * right[index]!, 0);

const EMPTY = 'input must be a text, texts, tokens or arrays of tokens, none of them empty';

describe('embeddings', () => {
  let db: TestDatabase;
  let proxy: TestProxy;
  beforeAll(async () => {
    db = await createTestDatabase();
    proxy = await startTestProxy(db);
  });
  afterAll(async () => {
    await proxy.close();
    await db.close();
  });

  const call = async (rest: Record<string, unknown>) => {
    const response = await post(`${proxy.url}/v1/embeddings`, proxy.masterKey, {
      model: 'gateway/embed',
      ...rest,
    });
    return {
      status: response.status,
      body: (await response.json()) as {
        model: string;
        data: { index: number; embedding: number[] | string }[];
        usage: { prompt_tokens: number; total_tokens: number };
      },
    };
  };

  test('of many large texts delay nobody', async () => {
    const input = Array.from({ length: 100 }, (_, i) =>
      Array.from({ length: 400 }, (_unused, word) => `w${i * word}`).join(' '),
    );
    let done = false;
    let others = 0;
    const large = call({ input }).finally(() => {
      done = true;
    });
    while (!done) {
      await (await fetch(`${proxy.url}/health`)).text();
      others++;
    }
    const { status, body } = await large;
    expect([status, body.data.length]).toEqual([200, 100]);
    // Made at once they would let two through, one before and one after.
    expect(others).toBeGreaterThan(8);
  });

  test.each([
    ['leave while they are made if they are many', 500, false],
    ['come with their length otherwise', 3, true],
  ])('%s', async (_what, count, isSized) => {
    const input = Array.from({ length: count }, (_, i) => `text ${i}`);
    const response = await post(`${proxy.simulatorUrl}/embeddings`, 'none', { model: 'embed', input });
    expect(response.headers.has('content-length')).toBe(isSized);
    const { data, usage } = (await response.json()) as Awaited<ReturnType<typeof call>>['body'];
    expect(data.map(({ index }) => index)).toEqual(input.map((_text, index) => index));
    expect(data.at(-1)!.embedding).toEqual(Array.from(embed(input.at(-1)!)));
    expect(usage.prompt_tokens).toBeGreaterThan(count);
  });

  test('have 768 dimensions and unit length for any text', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        const vector = embed(text);
        expect(vector).toHaveLength(DIMENSIONS);
        expect(dot(vector, vector)).toBeCloseTo(1, 5);
        expect(embed(text)).toEqual(vector);
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    [
      'How do I reset my password?',
      'I forgot my password, how can I reset it?',
      'The best pasta recipes of Naples',
    ],
    ['Ships and lighthouses', 'A lighthouse guides a ship', 'Compilers translate source code'],
    ['der Hund schläft', 'ein Hund schlief', 'quarterly revenue forecast'],
  ])('are closer for similar texts: %s', (text, similar, other) => {
    const base = embed(text);
    expect(dot(base, embed(similar))).toBeGreaterThan(dot(base, embed(other)) + 0.15);
  });

  test('are the same as base64 and as floats, under the public name', async () => {
    const floats = await call({ input: 'hello', encoding_format: 'float' });
    const packed = await call({ input: 'hello', encoding_format: 'base64' });
    expect(floats.body.model).toBe('gateway/embed');
    const bytes = Buffer.from(packed.body.data[0]!.embedding as string, 'base64');
    const decoded = Array.from({ length: DIMENSIONS }, (_, index) => bytes.readFloatLE(index * 4));
    expect(decoded).toEqual(floats.body.data[0]!.embedding);
    expect(toBase64(embed('hello'))).toBe(packed.body.data[0]!.embedding);
  });

  test('accept a text, texts, tokens and arrays of tokens', async () => {
    const [one, many, tokens, lists] = await Promise.all([
      call({ input: 'a' }),
      call({ input: ['a', 'b', 'a'] }),
      call({ input: [1, 2, 3] }),
      call({ input: [[1, 2, 3], [4]] }),
    ]);
    expect([one, many, tokens, lists].map(({ body }) => body.data.length)).toEqual([1, 3, 1, 2]);
    expect(many.body.data.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(many.body.data[2]!.embedding).toEqual(one.body.data[0]!.embedding);
    expect(lists.body.data[0]!.embedding).toEqual(tokens.body.data[0]!.embedding);
    expect(one.body.usage.prompt_tokens).toBeGreaterThan(0);
    expect(one.body.usage.total_tokens).toBe(one.body.usage.prompt_tokens);
  });

  test('count each token of a token array, and nothing else', async () => {
    const counts = async (input: unknown) => (await call({ input })).body.usage.prompt_tokens;
    expect(await Promise.all([[1, 2, 3], [[1, 2, 3]], [[1, 2, 3], [4]], [100257]].map(counts))).toEqual([
      3, 3, 4, 1,
    ]);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['a chat model', { input: 'a', model: 'gateway/fast' }, 'The model does not support embeddings.'],
    ['no input', {}, 'input is required'],
    ['an empty text', { input: '' }, 'input must have at least 1 character'],
    ['an empty array', { input: [] }, EMPTY],
    ['an empty text among others', { input: ['a', ''] }, 'input.1 must have at least 1 character'],
    ['an empty array of tokens', { input: [[]] }, 'input.0 must have at least 1 entry'],
    ['half a token', { input: [1.5] }, EMPTY],
    ['too many dimensions', { input: 'a', dimensions: 769 }, 'dimensions must be at most 768'],
    ['no dimensions', { input: 'a', dimensions: 0 }, 'dimensions must be at least 1'],
    [
      'another encoding',
      { input: 'a', encoding_format: 'hex' },
      'encoding_format must be one of float, base64',
    ],
  ])('are refused for %s', async (_what, rest, message) => {
    const { status, body } = await call(rest);
    expect([status, (body as { error?: { message: string } }).error?.message]).toEqual([400, message]);
  });

  test.each([1, 2, 64, 767, DIMENSIONS])(
    'with %i dimensions are the first of all, at unit length',
    async (dimensions) => {
      const [whole, short] = await Promise.all(
        [{}, { dimensions }].map(async (rest) => {
          const { body } = await call({ input: 'a lighthouse', ...rest });
          return body.data[0]!.embedding as number[];
        }),
      );
      expect(short).toHaveLength(dimensions);
      expect(dot(short!, short!)).toBeCloseTo(1, 5);
      const first = whole!.slice(0, dimensions);
      const length = Math.sqrt(dot(first, first));
      if (length > 0) expect(dot(short!, first)).toBeCloseTo(length, 5);
    },
  );
});
