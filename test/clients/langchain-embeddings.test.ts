import { embeddingsOf } from './langchain-support.js';
import { useClients, watchedFetch } from './support.js';

const suite = useClients();

describe('langchain: embeddings', () => {
  test('embedDocuments goes in batches, in order, with the vectors of single queries', async () => {
    const { fetch, calls } = watchedFetch();
    const embeddings = embeddingsOf(suite, fetch);
    const texts = ['first text', 'second text', 'third text'];
    const before = (await suite.usage()).length;
    const vectors = await embeddings.embedDocuments(texts);
    expect(vectors.map(({ length }) => length)).toEqual([768, 768, 768]);
    expect(calls.map(({ body }) => (body.input as string[]).length).sort()).toEqual([1, 2]);
    const events = (await suite.usage()).slice(before);
    expect(events).toHaveLength(2);
    expect(events.every(({ endpoint, status }) => endpoint === 'embeddings' && status === 'success')).toBe(
      true,
    );
    for (const [at, text] of texts.entries()) {
      expect(Array.from(await embeddings.embedQuery(text))).toEqual(Array.from(vectors[at]!));
    }
  });

  test('tokens in are charged', async () => {
    const before = await suite.balance();
    const count = (await suite.usage()).length;
    await embeddingsOf(suite).embedQuery('What does this cost?');
    const events = (await suite.usage()).slice(count);
    expect(events).toHaveLength(1);
    const cost = await suite.priceOf([{ model: 'gateway/embed', input: events[0]!.input_tokens, output: 0 }]);
    expect(cost).toBeGreaterThan(0n);
    expect(before - (await suite.balance())).toBe(cost);
  });
});
