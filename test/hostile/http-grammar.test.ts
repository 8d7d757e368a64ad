import { codeOf, type ExchangeOptions, exchange, requestText } from './raw.js';
import { useHostileSuite } from './suite.js';

const BODY = '{"model":"gateway/fast","messages":[]}';
const CHUNKED = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;

describe('a request that two readers could read in two ways', () => {
  const suite = useHostileSuite();
  const bearer = () => `Authorization: Bearer ${suite.caller.key}`;
  const send = (text: string, options: ExchangeOptions = {}) =>
    exchange(suite.edge.url, text, { halfClose: false, timeoutMs: 3_000, ...options });
  const post = (headers: string[], body = BODY) =>
    requestText('POST /v1/chat/completions', [bearer(), 'Connection: close', ...headers], body);
  const get = (path: string, headers: string[] = []) =>
    requestText(`GET ${path}`, [bearer(), 'Connection: close', ...headers]);

  test.each([
    ['both lengths', ['Content-Length: 38', 'Transfer-Encoding: chunked'], CHUNKED],
    ['two lengths', ['Content-Length: 38', 'Content-Length: 3'], BODY],
    ['the same length twice', ['Content-Length: 38', 'Content-Length: 38'], BODY],
    ['a list of lengths', ['Content-Length: 38, 38'], BODY],
    ['a length with a sign', ['Content-Length: +38'], BODY],
    ['a negative length', ['Content-Length: -1'], BODY],
    ['a hexadecimal length', ['Content-Length: 0x26'], BODY],
    ['a length beyond 2^64', ['Content-Length: 99999999999999999999999'], BODY],
    ['an unknown coding', ['Transfer-Encoding: xchunked'], CHUNKED],
    ['chunked not last', ['Transfer-Encoding: chunked, identity'], CHUNKED],
    ['chunked twice', ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], CHUNKED],
    ['chunked after a tab and a letter', ['Transfer-Encoding: \tchunkedx'], CHUNKED],
    ['a folded line', ['X-Folded: a', ' b', 'Content-Length: 38'], BODY],
    ['a folded length', ['Content-Length:', ' 38'], BODY],
    ['a space before the colon', ['Transfer-Encoding : chunked'], CHUNKED],
    ['NUL in a value', ['X-Nul: a\u0000b', 'Content-Length: 38'], BODY],
    ['a bare CR in a value', ['X-Cr: a\rContent-Length: 38'], BODY],
    ['a line without a colon', ['nonsense', 'Content-Length: 38'], BODY],
    ['a malformed chunk size', ['Transfer-Encoding: chunked'], `zz\r\n${BODY}\r\n0\r\n\r\n`],
    ['a negative chunk', ['Transfer-Encoding: chunked'], `-1\r\n${BODY}\r\n0\r\n\r\n`],
    ['a chunk beyond 2^64', ['Transfer-Encoding: chunked'], `${'f'.repeat(18)}\r\n${BODY}\r\n0\r\n\r\n`],
    ['a chunk without its end', ['Transfer-Encoding: chunked'], `1\r\nab\r\n0\r\n\r\n`],
    [
      'a long chunk extension',
      ['Transfer-Encoding: chunked'],
      `26;e=${'x'.repeat(20_000)}\r\n${BODY}\r\n0\r\n\r\n`,
    ],
    ['a second host', ['Host: other', 'Content-Length: 38'], BODY],
  ])('is refused: %s', async (_what, headers, body) => {
    const forwarded = suite.upstream.seen.length;
    const { statuses, text, closed } = await send(post(headers, body));
    expect([statuses, closed]).toEqual([[400], true]);
    expect(codeOf(text)).toMatch(/^invalid_(?:request|body)$/);
    expect(text).toMatch(/\r\nx-request-id: [0-9a-f-]{36}\r\n/);
    expect(suite.upstream.seen).toHaveLength(forwarded);
  });

  test.each(['/v1/%zz', '/v1/%ff', '/v1/chat/completions%'])(
    '%s is an endpoint that nobody supports',
    async (path) => {
      const { statuses, text } = await send(get(path));
      expect([statuses, codeOf(text)]).toEqual([[404], 'endpoint_not_supported']);
    },
  );

  test.each([
    ['no host', `GET /v1/models HTTP/1.1\r\n\r\n`],
    ['another version', `GET /v1/models HTTP/2.0\r\nHost: x\r\n\r\n`],
    ['no version', `GET /v1/models\r\n\r\n`],
    ['line feeds alone', `GET /v1/models HTTP/1.1\nHost: x\n\n`],
    ['carriage returns alone', `GET /v1/models HTTP/1.1\rHost: x\r\r`],
    ["HTTP/2's preface", 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['TLS', Buffer.from('16030100050100000100', 'hex').toString('latin1')],
    ['an unknown method', requestText('FOO /v1/models')],
    ['a lower-case method', requestText('get /v1/models')],
    ['a target without a slash', requestText('GET v1/models')],
    ['a control character in the target', requestText('GET /v1/mod\u0001els')],
  ])('is refused: %s', async (_what, text) => {
    const answer = await send(text, { halfClose: true });
    expect([answer.statuses, answer.closed]).toEqual([[400], true]);
    expect(codeOf(answer.text)).toBe('invalid_request');
  });

  test('a second credential does not hide behind a thousand headers', async () => {
    const filler = Array.from({ length: 2_500 }, (_, i) => `a${i}:`);
    const { statuses, text } = await send(get('/v1/models', [...filler, 'Authorization: Bearer other']));
    expect([statuses, codeOf(text)]).toEqual([[431], 'headers_too_large']);
  });

  test.each(['/v1/models', '/api/plans', '/health'])(
    '10,000 headers and 64 KiB of them answer 431: %s',
    async (path) => {
      for (const headers of [Array.from({ length: 10_000 }, () => 'a:'), [`X: ${'y'.repeat(66_000)}`]]) {
        const { statuses, text, closed } = await send(get(path, headers));
        expect([statuses, codeOf(text), closed]).toEqual([[431], 'headers_too_large', true]);
      }
    },
  );

  test('HTTP/1.0 is served and its connection closed', async () => {
    for (const path of ['/v1/models', '/api/plans']) {
      const { statuses, closed } = await send(`GET ${path} HTTP/1.0\r\n${bearer()}\r\n\r\n`);
      expect([path, statuses, closed]).toEqual([path, [200], true]);
    }
  });

  test('a client that wants its connection closed gets it closed, also by the platform', async () => {
    const { statuses, closed, text } = await send(requestText('GET /api/plans', ['Connection: close']));
    expect([statuses, closed]).toEqual([[200], true]);
    expect(text).toMatch(/^connection: close/im);
    expect(text).not.toMatch(/keep-alive/i);
  });

  test('pipelined requests are answered in order', async () => {
    const { statuses } = await send(
      requestText('GET /v1/models', [bearer()]) +
        requestText('GET /api/plans') +
        requestText('GET /v1/nothing', [bearer()]) +
        requestText('GET /v1/models', ['Connection: close']),
    );
    expect(statuses).toEqual([200, 200, 404, 401]);
  });

  test('100 Continue is sent only after the key is checked', async () => {
    const wait = ['Content-Length: 38', 'Expect: 100-continue'];
    expect((await send(post(wait))).statuses).toEqual([100, 200]);
    const unknown = post(wait).replace(suite.caller.key, 'sk-pr-unknown');
    expect((await send(unknown)).statuses).toEqual([401]);
    const login = requestText(
      'POST /api/auth/login',
      ['Connection: close', 'Content-Type: application/json', 'Content-Length: 2', 'Expect: 100-continue'],
      '{}',
    );
    expect((await send(login)).statuses).toEqual([100, 422]);
    expect((await send(post(['Content-Length: 38', 'Expect: miracles']))).statuses).toEqual([417]);
  });

  test.each(['websocket', 'h2c', 'TLS/1.2', 'anything'])('/v1 upgrades to nothing: %s', async (protocol) => {
    const upgrade = ['Connection: Upgrade', `Upgrade: ${protocol}`, 'Sec-WebSocket-Version: 13'];
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
    const refused = await send(requestText('GET /v1/models', [...upgrade, key]), {
      until: (text) => text.includes('}'),
    });
    expect(refused.statuses).toEqual([401]);
    const served = await send(requestText('GET /v1/models', [bearer(), ...upgrade, key]), {
      until: (text) => text.includes(']}'),
    });
    expect(served.statuses).toEqual([200]);
  });

  test.each(['TRACE', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'PROPFIND', 'QUERY', 'M-SEARCH', 'COPY'])(
    '%s does nothing on /v1, and echoes nothing',
    async (method) => {
      const secret = 'X-Secret: echo-canary';
      const { statuses, text, closed } = await send(
        requestText(`${method} /v1/models`, [bearer(), 'Connection: close', secret]),
      );
      expect([statuses, closed]).toEqual([[404], true]);
      expect(text).not.toMatch(/echo-canary|sk-pr-|statusCode/);
    },
  );

  test('CONNECT opens no tunnel', async () => {
    const { statuses, closed } = await send(requestText('CONNECT 127.0.0.1:22', [bearer()]));
    expect([statuses, closed]).toEqual([[], true]);
  });
});
