import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestEdge, type TestEdge } from '../support/edge.js';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';
import { exchange, requestText } from './raw.js';
import { startWirePlatform, type WirePlatform } from './wire-platform.js';

/** A request that nobody sent as one: it is hidden in the body, or the headers, of another. */
const SMUGGLED = 'GET /smuggled/000000 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer stolen\r\n\r\n';
const CHUNKED = `${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`;
const LENGTH = `Content-Length: ${SMUGGLED.length}`;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
/** Header sets with the body that goes along. */
const FRAMINGS: [string, string[], string][] = [
  ['a length', [LENGTH], SMUGGLED],
  ['chunks', ['Transfer-Encoding: chunked'], CHUNKED],
  [
    'chunks with a trailer',
    ['Transfer-Encoding: chunked', 'Trailer: X'],
    `${CHUNKED.slice(0, -2)}X: ${'1\r\n\r\n'}`,
  ],
  ['length 0 and a body', ['Content-Length: 0'], SMUGGLED],
  ['no framing and a body', [], SMUGGLED],
  ['a length named as a hop', [LENGTH, 'Connection: content-length'], SMUGGLED],
  ['chunks named as a hop', ['Transfer-Encoding: chunked', 'Connection: transfer-encoding'], CHUNKED],
  ['length and chunks', [LENGTH, 'Transfer-Encoding: chunked'], CHUNKED],
  ['chunks and length', ['Transfer-Encoding: chunked', 'Content-Length: 4'], CHUNKED],
  ['two lengths', [LENGTH, 'Content-Length: 4'], SMUGGLED],
  ['lengths in a list', [`${LENGTH}, 4`], SMUGGLED],
  ['a length with a plus', [`Content-Length: +${SMUGGLED.length}`], SMUGGLED],
  ['a short length', ['Content-Length: 4'], SMUGGLED],
  ['a space before the colon', ['Transfer-Encoding : chunked', 'Content-Length: 4'], CHUNKED],
  ['a folded coding', ['Transfer-Encoding:', ' chunked', 'Content-Length: 4'], CHUNKED],
  ['a vertical tab in the coding', ['Transfer-Encoding: \vchunked', 'Content-Length: 4'], CHUNKED],
  ['an unknown coding', ['Transfer-Encoding: xchunked', 'Content-Length: 4'], CHUNKED],
  ['two codings', ['Transfer-Encoding: identity', 'Transfer-Encoding: chunked'], CHUNKED],
  ['gzip, chunked', ['Transfer-Encoding: gzip, chunked'], CHUNKED],
  ['upper case', ['TRANSFER-ENCODING: CHUNKED'], CHUNKED],
  ['an underscore', ['Transfer_Encoding: chunked', 'Content-Length: 4'], CHUNKED],
  ['a bare line feed', [`X: 1\nTransfer-Encoding: chunked`, 'Content-Length: 4'], CHUNKED],
  ['a bare carriage return', [`X: 1\rTransfer-Encoding: chunked`, 'Content-Length: 4'], CHUNKED],
  ['NUL', ['Transfer-Encoding: chunked\u0000', 'Content-Length: 4'], CHUNKED],
  ['a request in a header', [`X: 1\r\n\r\n${SMUGGLED}`], ''],
  ['an encoded end of line in a header', ['X: 1%0d%0a%0d%0aGET%20/smuggled/000000'], ''],
  ['another encoding of an end of line', ['X: 1\u010d\u010aGET /smuggled/000000'], ''],
  ['an upgrade with a body', ['Connection: Upgrade', 'Upgrade: h2c', LENGTH], SMUGGLED],
  ['a chunk extension', ['Transfer-Encoding: chunked'], `${CHUNKED.replace('\r\n', ';a="\r\n"\r\n')}`],
  ['a chunk that ends in a line feed', ['Transfer-Encoding: chunked'], CHUNKED.replace('\r\n', '\n')],
  ['a chunk too long', ['Transfer-Encoding: chunked'], `ff\r\n${SMUGGLED}\r\n0\r\n\r\n`],
  ['a body that waits', [LENGTH, 'Expect: 100-continue'], SMUGGLED],
];

/** Here two whole requests stand one after the other for everyone: each is checked like any other. */
const TWO_REQUESTS = new Set([
  'length 0 and a body',
  'no framing and a body',
  'a short length',
  'an underscore',
  'a request in a header',
]);

/**
 * The requests in what the platform received, separated by their own framing, as its parser does. One that the edge
 * did not read and check itself lacks what the edge writes into each.
 */
function requestsIn(wire: string): string[] {
  const lines: string[] = [];
  for (let at = 0; at < wire.length; ) {
    const end = wire.indexOf('\r\n\r\n', at);
    if (end < 0) {
      lines.push(`cut: ${wire.slice(at, at + 40)}`);
      break;
    }
    const head = wire.slice(at, end);
    const checked = /^x-forwarded-for: 127\.0\.0\.1$/m.test(head.replaceAll('\r', ''));
    lines.push(`${checked ? '' : 'SMUGGLED '}${head.split('\r\n', 1)[0]!}`);
    at = end + 4;
    const chunked = /^transfer-encoding: chunked$/im.test(head);
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
    if (chunked) at = wire.indexOf('0\r\n\r\n', at) + 5;
    else at += length;
  }
  return lines;
}

describe('between edge and platform', () => {
  let db: TestDatabase;
  let upstream: ScriptedUpstream;
  let platform: WirePlatform;
  let edge: TestEdge;
  let marks = 0;
  beforeAll(async () => {
    db = await createTestDatabase();
    upstream = await startScriptedUpstream();
    platform = await startWirePlatform();
    edge = await startTestEdge(db, { upstreamUrl: upstream.url, platformUrl: platform.url });
  });
  afterAll(async () => {
    await edge.close();
    await platform.close();
    await upstream.close();
    await db.close();
  });

  test.each(FRAMINGS)('no request hides in another: %s', async (what, headers, body) => {
    for (const method of METHODS) {
      // What the former connection led to may arrive late: each has a mark of its own, and all are of one length.
      const mark = String(++marks).padStart(6, '0');
      const text = requestText(
        `${method} /api/visible/000000`,
        ['Content-Type: text/plain', ...headers],
        body,
      );
      await exchange(edge.url, text.replaceAll('000000', mark), { halfClose: false, timeoutMs: 100 });
      const seen = requestsIn(platform.received(mark));
      expect([method, seen.filter((line) => /^SMUGGLED|^cut/.test(line))]).toEqual([method, []]);
      if (!TWO_REQUESTS.has(what)) expect(seen.join()).not.toMatch(/smuggled/);
    }
  });

  test("a client's headers about proxies, hops and hosts don't pass", async () => {
    // Of the tests before, something may still be on its way.
    const path = '/api/visible/alone';
    const { statuses } = await exchange(
      edge.url,
      requestText(
        `GET ${path}`,
        [
          'Connection: x-hop, x-forwarded-for, close',
          'X-Hop: 1',
          'Keep-Alive: timeout=9',
          'Proxy-Connection: x',
          'TE: trailers',
          'X-Forwarded-For: 203.0.113.9',
          'X-Real-IP: 203.0.113.9',
          'Forwarded: for=203.0.113.9',
          'Via: 1.1 x',
          'Expect: 100-continue',
        ],
        '',
        'evil.test',
      ),
      { halfClose: false },
    );
    expect(statuses).toEqual([100, 200]);
    const wire = platform.received(path);
    expect(requestsIn(wire)).toEqual([`GET ${path} HTTP/1.1`]);
    expect(wire).not.toMatch(/203\.0\.113|^x-hop|^via|^expect|^keep-alive|^proxy-connection|^host: evil/im);
    expect(wire).toMatch(/^x-forwarded-for: 127\.0\.0\.1\r$/m);
  });
});
