import { dumpTables } from '../../support/dump.js';
import { createTestKey, postChat, usageOf } from '../../support/edge.js';
import { useEdge } from '../../support/edge-suite.js';
import fc from '../../support/fast-check.js';

const PROMPT = 'Wilhelmine hides "copper" keys beneath\nseventeen lavender pots. Nobody may visit Zürich.';
const CHINESE = '威廉明娜把铜钥匙藏在薰衣草花盆下面';
const NEEDLES = ['wilhelmine', 'copper', 'lavender', 'nobody', 'zürich', 'seventeen', '薰衣草', 'orchid'];

const python = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
const ascii = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
const bytes = (text: string): string =>
  `b'${[...Buffer.from(text)].map((byte) => (byte > 126 || byte < 32 ? `\\x${byte.toString(16)}` : String.fromCharCode(byte))).join('')}'`;

const refusal = (message: string) => (_request: unknown, response: import('node:http').ServerResponse) =>
  response
    .writeHead(400, { 'content-type': 'application/json' })
    .end(JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: null } }));

describe('the message that is kept of a failed call', () => {
  const suite = useEdge();

  const kept = async (message: string, body: Record<string, unknown> = {}) => {
    const { accountId, key } = await createTestKey(suite.db);
    suite.upstream.answer(refusal(message));
    const response = await postChat(suite.edge.url, key, body);
    const shown = ((await response.json()) as { error: { message: string } }).error.message;
    await suite.edge.settled();
    const [row] = await usageOf(suite.db, accountId);
    return { shown, message: row!.error_message };
  };
  const asking = (...contents: string[]) => ({
    messages: contents.map((content) => ({ role: 'user', content })),
  });
  const stored = async (): Promise<string> =>
    [...(await dumpTables(suite.db.pool)).values()].flat().join('\n').toLowerCase();
  const GENERIC =
    'The model refused the request. Check messages, tools and parameters against what the model supports.';

  const WHOLE = [
    "This model's maximum context length is 32768 tokens. However, you requested 40000 tokens (30000 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.",
    "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 8192 tokens and your request has 500 input tokens (32000 > 8192 - 500).",
    'max_tokens must be at least 1, got 0.',
    'temperature must be non-negative, got -1.0.',
    "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
    "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 5000 tokens: 4000 tokens from the input messages and 1000 tokens for the completion. Please reduce the number of tokens in the input messages or the completion to fit within the limit.",
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 500 `max_new_tokens`',
    'the request exceeds the available context size. try increasing the context size or enable context shift',
    'the input length exceeds the context length',
    'Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input',
    'Prompt length (5000) exceeds maximum input length (4096).',
    'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
    'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    'prompt is too long: 200251 tokens > 200000 maximum',
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    "Missing required parameter: 'tools[0].function.name'.",
    "Invalid type for 'messages[0].content': expected one of a string or array of objects, but got an integer instead.",
    'messages.0.content: Input should be a valid string; temperature: Input should be less than or equal to 2',
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
    'Conversation roles must alternate user/assistant/user/assistant/...',
    'The model gateway/fast does not support tools.',
    '"auto" tool choice requires a parser',
  ];
  const CUT: [string, string][] = [
    [
      "Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
      "Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern …",
    ],
    [
      '1 validation error for ChatCompletionRequest\nmessages.0.content\n  Input should be a valid string [type=string_type, input_value=7]',
      '1 validation error for ChatCompletionRequest messages.0.content Input should be a valid string …',
    ],
    ["Invalid schema for function 'get_weather': 'strng' is not valid", 'Invalid schema for function …'],
    ['top_p must be in (0, 1], got 2.0.', 'top_p must be in (0, …'],
    [
      'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]',
      'Invalid max_tokens value, the valid range of max_tokens is …',
    ],
    ["The value given, 'the length of the input', is not valid", 'The value given, …'],
    ['prompt should be a string, got 9906 1917 11', 'prompt should be a string, got 9906 …'],
    ['prompt should be a string, got [9906, 1917, 11]', 'prompt should be a string, got …'],
  ];
  test.each(WHOLE)('is the one of the node: %s', async (message) => {
    expect(await kept(message)).toEqual({ shown: message, message });
  });

  test.each(CUT)('ends where the node may quote the call: %s', async (message, beginning) => {
    expect((await kept(message)).message).toBe(beginning);
  });

  test.each([
    "Invalid value: 'strng'.",
    'Unknown role: bard',
    'Die Anfrage ist zu lang.',
    '请求超过最大长度',
  ])('is our own where that is at once: %s', async (message) => {
    expect(await kept(message)).toEqual({ shown: message, message: GENERIC });
  });

  test('is cut to 500 characters, and masked', async () => {
    const long = `The server at http://10.0.0.7:8000 has no result. ${'Please try again. '.repeat(60)}`;
    const { message } = await kept(long);
    expect(message).toMatch(/^The server at \[…\] has no result\. Please .*…$/);
    expect(message).toHaveLength(500);
  });

  const forms: [string, string][] = [
    ['as it is', PROMPT],
    ['in quotes', `"${PROMPT}"`],
    ['as Python shows it', python(PROMPT)],
    ['as ASCII', `'${ascii(PROMPT)}'`],
    ['as bytes', bytes(PROMPT)],
    ['as JSON', JSON.stringify(PROMPT)],
    ['as JSON in JSON', JSON.stringify(JSON.stringify({ content: PROMPT }))],
    ['in a URL', encodeURIComponent(PROMPT)],
    ['in HTML', PROMPT.replaceAll('"', '&quot;').replaceAll('\n', '&#10;')],
    ['in Base64', Buffer.from(PROMPT).toString('base64')],
    ['in capitals', PROMPT.toUpperCase()],
    ['in capitals as Python shows it', python(PROMPT).toUpperCase()],
    ['cut', `'${PROMPT.slice(0, 14)}...'`],
    ['cut in the middle', `'${PROMPT.slice(0, 20)}...${PROMPT.slice(-20)}'`],
    ['without its end', `'${PROMPT.slice(0, 33)}`],
    ['with its end only', `…${PROMPT.slice(-25)}'`],
    ['on two lines', PROMPT.replaceAll(' ', '\n')],
    ['in a Python object', `[{'role': 'user', 'content': ${python(PROMPT)}}]`],
    ['in Chinese quotes', `「${CHINESE}」`],
    ['in Chinese, cut', CHINESE.slice(4, 15)],
    ['in Chinese, as bytes', bytes(CHINESE)],
    ['as one short word in quotes', "'orchid'"],
    [
      'as tokens',
      PROMPT.split(' ')
        .map((word) => `'Ġ${word}'`)
        .join(', '),
    ],
  ];
  test.each(forms)('has nothing of a prompt that the node quotes: %s', async (_form, quoted) => {
    const body = asking(PROMPT, CHINESE, 'orchid');
    const before = 'Invalid content in messages';
    for (const [message, beginning] of [
      [`${before} ${quoted} is not supported.`, `${before} …`],
      [`${before}. It was: ${quoted}`, `${before}. It was: …`],
      [`Invalid value: ${quoted}`, GENERIC],
    ] as const)
      expect((await kept(message, body)).message).toBe(beginning);
    const rows = await stored();
    expect(NEEDLES.filter((needle) => rows.includes(needle))).toEqual([]);
    expect(rows).not.toContain(Buffer.from(PROMPT).toString('base64').slice(0, 12).toLowerCase());
  });

  test.each([
    ['Unknown value of user id-078-051-120.', 'Unknown value of user …'],
    ['Invalid value in user/411/111/111/111/111.', 'Invalid value in …'],
    ['Invalid value in content[411][111][111][111].', 'Invalid value in …'],
    [`The text was ${'1 and '.repeat(11)}2.`, `The text was ${'1 and '.repeat(10)}…`],
  ])('has few digits of a prompt: %s', async (message, beginning) => {
    expect((await kept(message, asking(PROMPT))).message).toBe(beginning);
  });

  /** Around a text, as servers quote it: the first as pydantic does. */
  const QUOTING: ((text: string) => string)[] = [
    (text) =>
      `1 validation error for ChatCompletionRequest messages.0.content Input should be a valid string [type=string_type, input_value=${python(text)}, input_type=str]`,
    (text) =>
      `[{'type': 'string_type', 'loc': ('body', 'prompt'), 'msg': 'Input should be a valid string, got ${text}'}]`,
    (text) => `Invalid value: ${python(text)}. Supported values are: 'text' and 'image_url'.`,
    (text) => `messages.0.content: Input should be a valid string, got ${JSON.stringify(text)}`,
    (text) => `The prompt ${text} is not supported by this model.`,
    (text) => `Failed to parse the input: ${ascii(text)}`,
    (text) => `Unknown role ${text.split(' ')[0]} in messages. The content was “${text}”.`,
    (text) => `Unable to decode ${encodeURIComponent(text)} as text.`,
  ];
  const word = fc.stringMatching(/^[b-z]{7,10}$/).map((letters) => `q${letters}`);
  const common = fc.constantFrom('the', 'model', 'is', 'not', 'a', 'valid', 'tools[0].name', '12');

  test('has no word of any prompt, whatever the node says around it', async () => {
    const prompts = fc.sample(fc.array(fc.oneof(word, common), { minLength: 2, maxLength: 8 }), {
      seed: 19,
      numRuns: 12,
    });
    for (const [at, words] of prompts.entries()) {
      const text = [...words, `q${at}unsaid`].join(at % 2 ? ' ' : ', ');
      for (const quote of QUOTING) await kept(quote(text), asking(text));
    }
    const rows = await stored();
    const own = prompts.flat().filter((one) => /^q[b-z]{7,10}$/.test(one));
    expect(own.length).toBeGreaterThan(15);
    expect([...own, 'unsaid'].filter((one) => rows.includes(one))).toEqual([]);
  }, 60_000);

  test.each(['the length of the input', 'is not a valid model', 'max_tokens, please'])(
    'has no prompt in quotes that consists of words of error messages: %s',
    async (text) => {
      for (const quoted of [`'${text}'`, `"${text}"`, `\`${text}\``, `['${text}']`, `{"content":"${text}"}`])
        expect((await kept(`Invalid value for content: ${quoted} is wrong.`, asking(text))).message).toBe(
          'Invalid value for content: …',
        );
    },
  );

  test('is kept however large the request is', async () => {
    const message = 'The prompt is too long.';
    expect((await kept(message, asking('word '.repeat(60_000)))).message).toBe(message);
  });

  test('is our own where the node says nothing that passes, and none for a success', async () => {
    const { accountId, key } = await createTestKey(suite.db);
    suite.upstream.answer((_request, response) => response.writeHead(500).end('secret of node 7'));
    await postChat(suite.edge.url, key);
    await suite.edge.settled();
    expect((await usageOf(suite.db, accountId)).map((row) => row.error_message)).toEqual([
      'The model failed to answer. Try again.',
    ]);
  });
});
