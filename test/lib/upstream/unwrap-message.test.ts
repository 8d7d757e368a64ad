import { unwrapMessage } from '../../../src/lib/upstream/unwrap-message.js';
import { threadTimeMs } from '../../support/thread-time.js';

const VLLM = "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.";
const TAIL = '. Received Model Group=gateway/fast\nAvailable Model Group Fallbacks=None';

describe('the text that a model proxy wraps around a refusal', () => {
  test.each([
    ['nothing', VLLM, VLLM],
    ['its class and its groups', `litellm.BadRequestError: ${VLLM}${TAIL}`, VLLM.slice(0, -1)],
    [
      'an answer as JSON',
      `litellm.BadRequestError: Hosted_vllmException - ${JSON.stringify({ object: 'error', message: VLLM, code: 400 })}${TAIL}`,
      VLLM,
    ],
    [
      "an answer as Python's repr",
      `litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: OpenAIException - Error code: 400 - {'object': 'error', 'message': "${VLLM}", 'type': 'BadRequestError', 'param': None, 'code': 400}${TAIL}`,
      VLLM,
    ],
    [
      'the settings of its router',
      `litellm.ContextWindowExceededError: ${VLLM} model=fast-node context_window_fallbacks=None. fallbacks=[{'a': ['b']}].\n\nSet 'context_window_fallback'${TAIL}`,
      VLLM.slice(0, -1),
    ],
    [
      'advice to its operator',
      'litellm.UnsupportedParamsError: vLLM does not support the parameter seed. To drop it, set `litellm.drop_params=True`.',
      'vLLM does not support the parameter seed.',
    ],
    [
      'the public name, which may stay',
      'Invalid model name passed in model=gateway/fast. Call `/v1/models` to view available models.',
      'Invalid model name passed in model=gateway/fast. Call `/v1/models` to view available models.',
    ],
    ['an object that can not be read', "litellm.BadRequestError: {'a': [1, 'http://10.0.0.1", undefined],
    ['only itself', 'litellm.BadRequestError: set litellm.modify_params=True', undefined],
    ['no words', '', undefined],
  ])('is removed: %s', (_what, wrapped, bare) => {
    expect(unwrapMessage(wrapped)).toBe(bare);
  });

  test('is found in linear time in a long text', () => {
    const began = threadTimeMs();
    unwrapMessage(`${'litellm.BadRequestError: '.repeat(5_000)}{'message': ${"'".repeat(20_000)}`);
    unwrapMessage(`${' .'.repeat(20_000)}x`);
    expect(threadTimeMs() - began).toBeLessThan(500);
  });
});
