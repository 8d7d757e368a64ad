import { useEdgeBehindProxy } from '../support/behind-proxy.js';
import { createTestKey, errorOf, postChat } from '../support/edge.js';
import { useEdge } from '../support/edge-suite.js';
import { delta, raw, stream } from '../support/scripted-upstream.js';

const OVERFLOW = 'context_length_exceeded';
const error = (message: string, fields: object = {}): string =>
  JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: null, ...fields } });

/** Programs that compact a conversation, or retry with a smaller image, decide by the code. */
describe("the code of a node's refusal", () => {
  const suite = useEdge({ env: { RESPONSES_API: '1' } });
  const behindProxy = useEdgeBehindProxy(suite);

  const PASSED: [string, string, string][] = [
    ['OpenAI', error('Too long.', { code: OVERFLOW, param: 'messages' }), OVERFLOW],
    ['OpenAI of a text', error('Too long.', { code: 'string_above_max_length' }), 'string_above_max_length'],
    ['OpenAI of an image', error('Not one.', { code: 'invalid_image_url' }), 'invalid_image_url'],
    [
      'vLLM',
      '{"object":"error","message":"This model\'s maximum context length is 4096 tokens. However, you requested 5000 tokens.","type":"BadRequestError","param":null,"code":400}',
      OVERFLOW,
    ],
    [
      'newer vLLM',
      error(
        "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 8192 tokens and your request has 500 input tokens.",
        { type: 'BadRequestError', code: 400 },
      ),
      OVERFLOW,
    ],
    ['vLLM by seven', error('maximum context length exceeded by 7 tokens'), OVERFLOW],
    [
      'SGLang',
      '{"object":"error","message":"The input (5000 tokens) is longer than the model\'s context length (4096 tokens).","code":400}',
      OVERFLOW,
    ],
    [
      'TGI',
      '{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000","error_type":"validation"}',
      OVERFLOW,
    ],
    [
      'llama.cpp',
      error('the request exceeds the available size', { code: 400, type: 'exceed_context_size_error' }),
      OVERFLOW,
    ],
    ['Ollama', error('the input length exceeds the context length'), OVERFLOW],
    [
      'LM Studio',
      '{"error":"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}',
      OVERFLOW,
    ],
    [
      'TensorRT-LLM',
      '{"object":"error","message":"Prompt length (5000) exceeds maximum input length (4096).","code":400}',
      OVERFLOW,
    ],
    [
      'Mistral',
      '{"object":"error","message":"Prompt contains 40000 tokens, too large for model with 32768 maximum context length","code":"3051"}',
      OVERFLOW,
    ],
    [
      'xAI',
      '{"code":"Client specified an invalid argument","error":"This model\'s maximum prompt length is 131072 but the request contains 200000 tokens."}',
      OVERFLOW,
    ],
    [
      'Gemini',
      error('The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).', {
        code: 400,
      }),
      OVERFLOW,
    ],
    ['Anthropic', error('prompt is too long: 200251 tokens > 200000 maximum'), OVERFLOW],
    ['LiteLLM', error('litellm.ContextWindowExceededError: Too much.', { code: '400' }), OVERFLOW],
    ['a code of no document', error('Something else.', { code: 'node_7_says_no' }), 'invalid_request'],
    ['a refused value', error('max_tokens must be at least 1', { code: 400 }), 'invalid_request'],
    ['a word in a schema', error("Invalid schema for function 'context'", { code: 400 }), 'invalid_request'],
  ];

  test.each(PASSED)('is documented, or invalid_request: %s', async (_what, body, code) => {
    const { key } = await createTestKey(suite.db, { virtualKey: behindProxy.proxy.masterKey });
    suite.upstream.answer(raw(400, body));
    for (const { url } of [suite.edge, behindProxy.edge]) {
      const answer = await postChat(url, key, {});
      expect([answer.status, await errorOf(answer)]).toMatchObject([
        400,
        { type: 'invalid_request_error', code },
      ]);
    }
  });

  test('is passed if the error is the first event of a stream', async () => {
    const { key } = await createTestKey(suite.db, { virtualKey: behindProxy.proxy.masterKey });
    suite.upstream.answer(stream([`data: ${error('the input length exceeds the context length')}\n\n`]));
    for (const { url } of [suite.edge, behindProxy.edge]) {
      const answer = await postChat(url, key, { stream: true });
      expect([answer.status, (await errorOf(answer)).code]).toEqual([400, OVERFLOW]);
    }
  });

  test('is passed by /v1/responses, with the names of that API', async () => {
    const { key } = await createTestKey(suite.db);
    const ask = (fields: object) =>
      fetch(`${suite.edge.url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify({ model: 'gateway/fast', input: 'Hi', ...fields }),
      });
    const body = error('Too long.', { code: OVERFLOW, param: 'messages' });
    suite.upstream.answer(raw(400, body));
    const answer = await ask({});
    expect([answer.status, await errorOf(answer)]).toMatchObject([400, { code: OVERFLOW, param: 'input' }]);
    suite.upstream.answer(stream([delta('Hel'), `data: ${body}\n\n`]));
    const events = await (await ask({ stream: true })).text();
    expect(events).toContain('event: response.failed');
    expect(events).toContain(`"code":"${OVERFLOW}"`);
  });
});
