import { dumpTables } from '../../support/dump.js';
import { createTestKey, postChat, usageOf } from '../../support/edge.js';
import { useEdge } from '../../support/edge-suite.js';

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
    const told = ((await response.json()) as { error: { message: string } }).error.message;
    await suite.edge.settled();
    const [row] = await usageOf(suite.db, accountId);
    return { told, message: row!.error_message };
  };
  const asking = (...contents: string[]) => ({
    messages: contents.map((content) => ({ role: 'user', content })),
  });
  const GENERIC =
    'The model refused the request. Check messages, tools and parameters against what the model supports.';

  test.each([
    'maximum context length exceeded by 7 tokens',
    'Die Anfrage ist um 7 Tokens zu lang. Kürzen Sie sie.',
    '请求超过最大长度 7 个词元。请缩短。',
    "Invalid schema for function 'get_weather': 'strng' is not valid under any of the given schemas",
  ])('is the one of the node: %s', async (message) => {
    const tools = [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'strng' } } }];
    expect(await kept(message, { ...asking(PROMPT), tools })).toEqual({ told: message, message });
  });

  test('is cut to 500 characters, and masked', async () => {
    const long = `The node at http://10.0.0.7:8000 has no room. ${'All slots are taken now. '.repeat(60)}`;
    const { message } = await kept(long);
    expect(message).toMatch(/^The node at \[…\] has no room\. All slots .*…$/);
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
  test.each([python(PROMPT), JSON.stringify(CHINESE), `'${PROMPT.slice(0, 14)}...'`, "'orchid'"])(
    'is the first sentence that does not quote the prompt: %s',
    async (quoted) => {
      const body = asking(PROMPT, CHINESE, 'orchid');
      const { message } = await kept(`Invalid value ${quoted} in messages. Send less. Try again.`, body);
      expect(message).toBe('Send less.');
    },
  );

  test.each(forms)('has nothing of a prompt that the node quotes: %s', async (_form, quoted) => {
    const body = asking(PROMPT, CHINESE, 'orchid');
    await kept(`Invalid value ${quoted} in messages. Send fewer parts.`, body);
    expect((await kept(`Bad value. It was: ${quoted}`, body)).message).toBe('Bad value.');
    expect((await kept(`Invalid value: ${quoted}`, body)).message).toBe(GENERIC);
    const rows = [...(await dumpTables(suite.db.pool)).values()].flat().join('\n').toLowerCase();
    expect(NEEDLES.filter((needle) => rows.includes(needle))).toEqual([]);
    expect(rows).not.toContain(Buffer.from(PROMPT).toString('base64').slice(0, 12).toLowerCase());
  });

  test('is our own where the request is too large to be compared', async () => {
    const { told, message } = await kept('Too many tokens.', asking('word '.repeat(60_000)));
    expect([told, message]).toEqual(['Too many tokens.', GENERIC]);
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
