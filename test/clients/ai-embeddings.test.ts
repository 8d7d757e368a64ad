import { cosineSimilarity, embed, embedMany } from 'ai';
import { providerOf } from './ai-support.js';
import { useClients, watchedFetch } from './support.js';

const suite = useClients();

describe('ai: embeddings', () => {
  test('embedMany keeps the order and bills the tokens that it reports', async () => {
    const { fetch, calls } = watchedFetch();
    const before = await suite.balance();
    const { embeddings, usage } = await embedMany({
      model: providerOf(suite, undefined, fetch).embeddingModel('gateway/embed'),
      values: ['paying an invoice', 'the invoice was paid', 'whales sing at night'],
    });
    expect(calls.map(({ body }) => body.encoding_format)).toEqual(['float']);
    expect(embeddings.map(({ length }) => length)).toEqual([768, 768, 768]);
    const [one, two, three] = embeddings;
    expect(cosineSimilarity(one!, two!)).toBeGreaterThan(cosineSimilarity(one!, three!) + 0.1);
    expect(usage.tokens).toBeGreaterThan(0);
    const cost = await suite.priceOf([{ model: 'gateway/embed', input: usage.tokens, output: 0 }]);
    expect(before - (await suite.balance())).toBe(cost);
  });

  test('embed gives the vector that the openai client gets', async () => {
    const value = 'One text, two clients';
    const { embedding } = await embed({
      model: providerOf(suite).embeddingModel('gateway/embed'),
      value,
    });
    const { data } = await suite.openai().embeddings.create({ model: 'gateway/embed', input: value });
    expect(embedding).toEqual(Array.from(data[0]!.embedding));
  });

  test('embedMany passes on the dimensions that a caller asks for', async () => {
    const { embeddings } = await embedMany({
      model: providerOf(suite).embeddingModel('gateway/embed'),
      values: ['one', 'two'],
      providerOptions: { gateway: { dimensions: 64 } },
    });
    expect(embeddings.map(({ length }) => length)).toEqual([64, 64]);
  });
});
