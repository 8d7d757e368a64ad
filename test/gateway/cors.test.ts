import { createTestKey, postChat } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';

const SITE = { origin: 'https://site.example' };

describe('a browser on any site', () => {
  const suite = useEdge();

  test('gets its preflight answered without a key', async () => {
    for (const path of ['/v1/chat/completions', '/v1/models', '/v1/anything']) {
      const response = await fetch(suite.edge.url + path, {
        method: 'OPTIONS',
        headers: {
          origin: 'https://site.example',
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization, content-type, x-stainless-os',
        },
      });
      expect(response.status).toBe(204);
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(response.headers.get('access-control-allow-headers')).toBe(
        'authorization, content-type, x-stainless-os',
      );
      expect(response.headers.get('access-control-allow-credentials')).toBeNull();
    }
  });

  test('may read answers and refusals, and the headers that SDKs need', async () => {
    const { key } = await createTestKey(suite.db);
    for (const response of [
      await postChat(suite.edge.url, key, {}, SITE),
      await postChat(suite.edge.url, 'nonsense', {}, SITE),
    ]) {
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      const exposed = response.headers.get('access-control-expose-headers')!.split(', ');
      expect(exposed).toEqual(expect.arrayContaining(['x-request-id', 'retry-after', 'retry-after-ms']));
    }
  });
});
