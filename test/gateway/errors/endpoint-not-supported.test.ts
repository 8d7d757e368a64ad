import { METHODS } from 'node:http';
import { codeOf, exchange, requestText } from '../../hostile/raw.js';
import { createTestKey, errorOf } from '../../support/edge.js';
import { useEdge } from '../../support/edge-suite.js';

describe('404 endpoint_not_supported', () => {
  const suite = useEdge();

  test.each([
    ['POST', '/v1/completions'],
    ['POST', '/v1/images/generations'],
    ['GET', '/v1/models/gateway/fast'],
    ['GET', '/v1/chat/completions'],
    ['PUT', '/v1/embeddings'],
    ['DELETE', '/v1/files/1'],
    ['POST', '/v1/models'],
    ['GET', '/v1'],
    ['GET', '/v1/'],
    ['POST', '/v1/chat/completions/'],
    ['POST', '/v1//chat/completions'],
  ])('answers %s %s', async (method, path) => {
    const { key } = await createTestKey(suite.db);
    const response = await fetch(suite.edge.url + path, {
      method,
      headers: { authorization: `Bearer ${key}` },
    });
    expect(response.status).toBe(404);
    expect(response.headers.get('x-request-id')).toBeTruthy();
    expect(await errorOf(response)).toEqual({
      message: expect.any(String),
      type: 'invalid_request_error',
      param: null,
      code: 'endpoint_not_supported',
    });
  });

  // CONNECT is no request for a path; OPTIONS is a preflight.
  test.each(METHODS.filter((method) => method !== 'CONNECT' && method !== 'OPTIONS'))(
    'asks for the key first, then answers %s',
    async (method) => {
      const { key } = await createTestKey(suite.db);
      const ask = async (headers: string[]) => {
        const lines = ['Connection: close', ...headers];
        const { text, statuses } = await exchange(suite.edge.url, requestText(`${method} /v1/x`, lines), {
          halfClose: false,
        });
        return [statuses, method === 'HEAD' ? undefined : codeOf(text)];
      };
      const code = (expected: string) => (method === 'HEAD' ? undefined : expected);
      expect(await ask([])).toEqual([[401], code('invalid_api_key')]);
      expect(await ask([`Authorization: Bearer ${key}`])).toEqual([[404], code('endpoint_not_supported')]);
    },
  );
});
