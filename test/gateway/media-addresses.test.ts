import { AppError } from '../../src/errors.js';
import { inspectBody } from '../../src/inference/request/request-body.js';
import { NEVER, PRIVATE, REFUSED, TAKEN } from '../lib/egress/vectors.js';
import fc from '../support/fast-check.js';

const NONE = new Set<string>();
const PLACE = 'messages[1].content[1]';

/** Where the fault of a body is; undefined when it passes. */
function faultOf(body: string | Buffer | object, allowPrivate = false): string | null | undefined {
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  try {
    inspectBody(bytes, NONE, { allowPrivate });
    return undefined;
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_body' });
    return (error as AppError).options.param ?? null;
  }
}

const withPart = (part: unknown): object => ({
  model: 'm',
  messages: [
    { role: 'system', content: 'See http://localhost/ and file:///etc/passwd.' },
    { role: 'user', content: [{ type: 'text', text: 'http://10.0.0.1/' }, part] },
  ],
});

/** The ways in which parts of messages name media. */
const FORMS: [where: string, part: (url: string) => object][] = [
  ['image_url.url', (url) => ({ type: 'image_url', image_url: { url, detail: 'low' } })],
  ['image_url', (url) => ({ image_url: url })],
  ['image_url', (url) => ({ type: 'input_image', image_url: url })],
  ['video_url.url', (url) => ({ type: 'video_url', video_url: { url } })],
  ['audio_url.url', (url) => ({ type: 'audio_url', audio_url: { url } })],
  ['file.file_url', (url) => ({ type: 'file', file: { file_url: url } })],
  ['image', (url) => ({ type: 'image', image: url })],
  ['source.url', (url) => ({ type: 'image', source: { type: 'url', url } })],
  ['video[0]', (url) => ({ type: 'video', video: [url] })],
];
/** Where an identifier or data may stand as well, so that only what looks like an address or a path is one. */
const LOOSE: typeof FORMS = [
  ['file.file_id', (url) => ({ type: 'file', file: { file_id: url } })],
  ['file.file_data', (url) => ({ type: 'file', file: { file_data: url } })],
  ['input_audio.data', (url) => ({ type: 'input_audio', input_audio: { data: url, format: 'wav' } })],
];

const refused = Object.values(REFUSED)
  .flat()
  .filter((url) => !url.startsWith('data:') && !url.includes('x'.repeat(2_000)));
const hasScheme = (url: string): boolean => /^[a-z+.-]+:\//i.test(url);
/** What URL parsers and readers of files take beside an address that is written in full. */
const SPELLINGS = [
  ...[' http://169.254.169.254/', '\thttp://10.0.0.1/', '\u0000\u001fhttp://10.0.0.1/', 'ht\ntp://10.0.0.1/'],
  ...['http:169.254.169.254/a', 'http:/10.0.0.1', 'https:\\\\10.0.0.1', 'file:/etc/passwd', 's3:bucket'],
  ...[`${' '.repeat(300)}http://10.0.0.1/`, './a.png', '../../etc/passwd', '~/.ssh/id_rsa'],
];

describe('an address of media', () => {
  test.each(FORMS)('at %s is refused with its path unless it is public', (where, part) => {
    for (const url of [
      ...refused,
      ...SPELLINGS,
      '/etc/passwd',
      'a.png',
      '10.0.0.1',
      'gpu-7',
      ' data:,',
      '',
    ]) {
      expect([url, faultOf(withPart(part(url)))]).toEqual([url, `${PLACE}.${where}`]);
    }
    for (const url of [...TAKEN, 'data:image/png;base64,AAAA', 'DATA:,']) {
      expect([url, faultOf(withPart(part(url)))]).toEqual([url, undefined]);
    }
  });

  test.each(LOOSE)("at %s is refused if it looks like an address and isn't public", (where, part) => {
    for (const url of [...refused.filter(hasScheme), ...SPELLINGS]) {
      expect([url, faultOf(withPart(part(url)))]).toEqual([url, `${PLACE}.${where}`]);
    }
    for (const text of [
      ...[...TAKEN, 'file-abc123', 'UklGRiQAAABXQVZF', 'data:application/pdf;base64,AA', 'Note: x'],
      ...(where === 'file.file_id' ? [] : ['/9j/4AAQSkZJRg==']),
    ]) {
      expect([text, faultOf(withPart(part(text)))]).toEqual([text, undefined]);
    }
  });

  test("at file_id isn't read as a path", () => {
    const part = { type: 'file', file: { file_id: ' /etc/passwd' } };
    expect(faultOf(withPart(part))).toBe(`${PLACE}.file.file_id`);
  });

  test('in a private network passes if the operator allows it; a link-local one never does', () => {
    const part = FORMS[0]![1];
    for (const url of PRIVATE) {
      expect([url, faultOf(withPart(part(url)))]).toEqual([url, `${PLACE}.image_url.url`]);
      expect([url, faultOf(withPart(part(url)), true)]).toEqual([url, undefined]);
    }
    for (const url of NEVER) {
      expect([url, faultOf(withPart(part(url)), true)]).toEqual([url, `${PLACE}.image_url.url`]);
    }
  });

  test.each([
    ['slashes that are escaped', '{"image_url":{"url":"http:\\/\\/10.0.0.1\\/"}}'],
    ['an id with escaped slashes', '{"file":{"file_id":"http:\\/\\/10.0.0.1\\/"}}'],
    ['a key in other letters', '{"Image_URL":{"URL":"http://10.0.0.1/"}}'],
    ['a key that is escaped', '{"im\\u0061ge\\u005f\\u0075rl":{"\\u0075rl":"http://10.0.0.1/"}}'],
    ['a scheme that is escaped', '{"file":{"file_id":"\\u0068ttp\\u003a\\u002f\\u002f10.0.0.1"}}'],
    [
      'an address before a harmless one',
      '{"image_url":{"url":"http://10.0.0.1/","url":"https://example.com"}}',
    ],
    ['room around it', '{ "image_url" : {\n "url" : "http://10.0.0.1/" } }'],
    ['an address in the same part behind', '{"image_url":{"url":"data:,"},"video_url":{"url":"file:///x"}}'],
  ])('is seen with %s', (_what, part) => {
    const body = `{"model":"m","messages":[{"role":"user","content":[${part}]}]}`;
    for (const text of [body, body.replace('{', `{"pad":"${'x'.repeat(70_000)}",`)]) {
      expect(faultOf(text)).toMatch(/^messages\[0\]\.content\[0\]\./);
    }
  });

  test('is seen in the input of embeddings', () => {
    const part = { type: 'image_url', image_url: { url: 'http://localhost/' } };
    expect(faultOf({ model: 'm', input: [{ content: [part] }] })).toBe('input[0].content[0].image_url.url');
    expect(faultOf({ model: 'm', input: [{ image: 'file:///x' }] })).toBe('input[0].image');
    expect(faultOf({ model: 'm', input: ['http://localhost/', 'file:///x'] })).toBeUndefined();
    expect(faultOf({ model: 'm', input: 'http://localhost/' })).toBeUndefined();
  });

  test('is ignored in messages of a model or a tool', () => {
    const url = 'http://localhost:3000/';
    const messages = [
      { role: 'user', content: url },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ function: { arguments: { url, image_url: url } } }],
      },
      { role: 'assistant', content: 'a', annotations: [{ url_citation: { url } }] },
      { role: 'assistant', content: [{ type: 'tool_use', input: { url } }] },
      { role: 'tool', content: JSON.stringify({ image_url: url }), tool_call_id: 'http:/1' },
    ];
    expect(faultOf({ model: 'm', messages })).toBeUndefined();
  });

  test('in a body of megabytes is found with its path', () => {
    const part = { type: 'image_url', image_url: { url: 'http://[::1]/' } };
    const many = Array.from({ length: 60_000 }, () => ({ role: 'user', content: 'a text' }));
    const body = { model: 'm', messages: [...many, { role: 'user', content: [part] }] };
    expect(faultOf(body)).toBe('messages[60000].content[0].image_url.url');
  });

  const key = fc.constantFrom(
    'content',
    'text',
    'image_url',
    'url',
    'file',
    'file_id',
    'tool_calls',
    'input',
    'é',
  );
  const leaf = fc.constantFrom(
    ...['a', 'http://10.0.0.1/', 'https://example.com/', 'file:///x', 'data:,', 'see http://10.0.0.1/', ''],
  );
  const tree = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 5 },
      leaf,
      fc.constantFrom(null, 1),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(key, tie('any'), { maxKeys: 3 }),
    ),
  })).any;

  /** The rule once more, on what JSON.parse makes of it. */
  function expected(value: unknown, keys: string[] = []): boolean {
    if (typeof value === 'object' && value !== null) {
      return Object.entries(value).some(([name, one]) =>
        expected(one, Array.isArray(value) ? keys : [...keys, name]),
      );
    }
    const name = keys.at(-1);
    if (typeof value !== 'string' || name === undefined) return false;
    if (keys.slice(0, -1).some((outer) => outer === 'tool_calls' || outer === 'input')) return false;
    if (value.startsWith('data:') || value.startsWith('https:')) return false;
    if (name === 'image_url' || name === 'url') return true;
    return ['file', 'file_id'].includes(name) && /^(?:http|file):/.test(value);
  }

  test('is found wherever it is, and nothing else is refused', () => {
    let found = 0;
    fc.assert(
      fc.property(fc.array(tree, { maxLength: 3 }), fc.constantFrom(0, 1), (messages, room) => {
        const fault = expected(messages);
        if (fault) found++;
        expect(faultOf(JSON.stringify({ model: 'm', messages }, null, room)) !== undefined).toBe(fault);
      }),
      { numRuns: 2_000 },
    );
    expect(found).toBeGreaterThan(100);
  });
});
