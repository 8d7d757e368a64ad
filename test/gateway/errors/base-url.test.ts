import { createTestKey, errorOf } from '../../support/edge.js';
import { useEdge } from '../../support/edge-suite.js';

const PUBLIC = 'https://gateway.example';

describe('a request with a wrong base URL, or for an endpoint that is not served', () => {
  const suite = useEdge({ env: { PUBLIC_BASE_URL: `${PUBLIC}/` } });
  const ask = async (method: string, path: string): Promise<[number, { code: string; message: string }]> => {
    const { key } = await createTestKey(suite.db);
    // As it is: fetch keeps slashes of a path.
    const answer = await fetch(suite.edge.url + path, {
      method,
      headers: { authorization: `Bearer ${key}` },
    });
    return [answer.status, await errorOf(answer)];
  };

  test.each([
    ['//v1/chat/completions', 'not_found', '/v1/chat/completions'],
    ['//v1/embeddings?x=1', 'not_found', '/v1/embeddings'],
    ['/v1//chat/completions', 'endpoint_not_supported', '/v1/chat/completions'],
    ['/v1/v1/chat/completions', 'endpoint_not_supported', '/v1/chat/completions'],
    ['/v1/chat/completions/', 'endpoint_not_supported', '/v1/chat/completions'],
    ['/v1/chat/completions/chat/completions', 'endpoint_not_supported', '/v1/chat/completions'],
    ['/v1/openai/v1/models/', 'endpoint_not_supported', '/v1/models'],
    ['/v1/v1/responses', 'endpoint_not_supported', '/v1/responses'],
  ])('%s is a 404 that names the right one', async (path, code, meant) => {
    const [status, error] = await ask('POST', path);
    expect([status, error.code]).toEqual([404, code]);
    expect(error.message).toContain(`Set the base URL to ${PUBLIC}/v1: the path is then ${meant}.`);
  });

  test.each([
    ['POST', '/v1/responses', 'RESPONSES_API'],
    ['POST', '/v1/responses', "setOpenAIAPI('chat_completions')"],
    ['POST', '/v1/responses', 'openai.chat(model)'],
    ['POST', '/v1/responses/compact', 'RESPONSES_API'],
    ['POST', '/v1/completions', 'openai.chat(model)'],
    ['POST', '/v1/messages', `the base URL ${PUBLIC}/v1`],
    ['POST', '/v1/messages/count_tokens', "Anthropic's API is not served"],
    ['POST', '/v1/engines/x/embeddings', 'POST /v1/embeddings'],
    ['POST', '/v1/images/generations', 'Supported endpoints are POST /v1/chat/completions'],
    ['GET', '/v1/chat/completions', 'Supported endpoints are POST /v1/chat/completions'],
  ])('%s %s names the way: %s', async (method, path, way) => {
    const [status, error] = await ask(method, path);
    expect([status, error.code]).toEqual([404, 'endpoint_not_supported']);
    expect(error.message).toContain(way);
  });

  test('what no endpoint is meant by stays unreadable', async () => {
    const [status, error] = await ask('GET', '//example.com/..');
    expect([status, error.message]).toEqual([400, "The request can't be parsed."]);
  });
});
