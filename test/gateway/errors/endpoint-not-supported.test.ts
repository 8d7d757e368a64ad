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
});
