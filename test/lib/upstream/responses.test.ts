import { setImmediate as turn } from 'node:timers/promises';
import fc from '../../support/fast-check.js';
import { Heard } from '../../support/heard.js';
import { call, OK, post, RawServer, whole } from './raw-server.js';

const head = (fields: string): string => `HTTP/1.1 200 OK\r\n${fields}\r\n`;
const chunked = (body: string): string => head('transfer-encoding: chunked\r\n') + body;
const length = (value: string, body = 'ok'): string => head(`content-length:${value}\r\n`) + body;
const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

let server: RawServer;
beforeAll(async () => {
  server = new RawServer();
  await server.listen();
});
afterAll(() => server.close());

/** Answers the next call with the pieces, each in a write of its own. */
function answerWith(pieces: readonly Buffer[], end = false): void {
  server.onBytes = async (socket) => {
    server.onBytes = (next) => next.write(OK);
    for (const piece of pieces) {
      socket.write(piece);
      await turn();
    }
    if (end) socket.end();
  };
}

function cut(whole: Buffer, places: number[]): Buffer[] {
  const sorted = places.map((place) => place % (whole.length + 1)).sort((a, b) => a - b);
  return [...sorted, whole.length]
    .map((end, i) => whole.subarray(sorted[i - 1] ?? 0, end))
    .filter((piece) => piece.length > 0);
}

describe('a response cut at any byte', () => {
  const data = fc.uint8Array({ minLength: 1, maxLength: 300 }).map((array) => Buffer.from(array));
  const places = fc.array(fc.nat(5_000), { maxLength: 10 });
  const chunk = (part: Buffer, extension: string): Buffer =>
    Buffer.concat([bytes(`${part.length.toString(16)}${extension}\r\n`), part, bytes('\r\n')]);

  test('arrives as it was sent: with a length, in chunks, or to the end of the connection', async () => {
    const client = server.client();
    const early = fc.constantFrom('', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n');
    const extension = fc.constantFrom('', ';a=b', ';q="x y"');
    const trailer = fc.constantFrom('', 'x-sum: 1\r\n', 'a: 1\r\nb: 2\r\n');
    const framing = fc.constantFrom('length', 'chunks', 'close');
    await fc.assert(
      fc.asyncProperty(
        fc.record({ parts: fc.array(data), framing, early, extension, trailer, places }),
        async ({ parts, framing, early, extension, trailer, places }) => {
          const body = Buffer.concat(parts);
          const sent = {
            length: [bytes(head(`content-length: ${body.length}\r\n`)), body],
            close: [bytes(head('')), body],
            chunks: [
              bytes(head('Transfer-Encoding: Chunked\r\n')),
              ...parts.map((part) => chunk(part, extension)),
              bytes(`0\r\n${trailer}\r\n`),
            ],
          }[framing];
          answerWith(cut(Buffer.concat([bytes(early), ...sent]), places), framing === 'close');
          expect(await call(client)).toMatchObject(whole(body.toString('latin1')));
        },
      ),
      { numRuns: 200 },
    );
  });

  test('fails if it breaks off', async () => {
    const client = server.client();
    const text = chunked('3\r\nabc\r\n0\r\n\r\n');
    for (let end = 0; end < text.length; end += 3) {
      answerWith([bytes(text.slice(0, end))], true);
      expect(await call(client)).toMatchObject({ ends: 0, errors: [expect.any(Error)] });
    }
  });
});

/** Short, for responses that never complete. */
const TIMEOUTS = { headersTimeoutMs: 300, bodyTimeoutMs: 300 };

describe('an ambiguous response', () => {
  test.each([
    ['another protocol than HTTP', 'SSH-2.0-OpenSSH\r\n\r\n'],
    ['a status of four digits', `HTTP/1.1 2000 OK\r\n${OK.slice(17)}`],
    ['no status', `HTTP/1.1 OK\r\n${OK.slice(17)}`],
    ['a switch of protocols', 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n'],
    ['an offer of another protocol', 'HTTP/1.1 101 Switching\r\nupgrade: h2c\r\n\r\n'],
    ['two lengths', `${head('content-length: 2\r\ncontent-length: 2\r\n')}ok`],
    ['two different lengths', `${head('content-length: 2\r\ncontent-length: 1\r\n')}ok`],
    ['two lengths in one', length(' 2, 2')],
    [
      'a length and chunks',
      `${head('content-length: 12\r\ntransfer-encoding: chunked\r\n')}2\r\nok\r\n0\r\n\r\n`,
    ],
    [
      'chunks and a length',
      `${head('transfer-encoding: chunked\r\ncontent-length: 12\r\n')}2\r\nok\r\n0\r\n\r\n`,
    ],
    ['two codings', `${head('transfer-encoding: gzip, chunked\r\n')}2\r\nok\r\n0\r\n\r\n`],
    ['chunks twice', `${head('transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n')}0\r\n\r\n`],
    ['an unknown coding', `${head('transfer-encoding: xchunked\r\n')}ok`],
    ['a coding before a tab', `${head('transfer-encoding: chunked\t\r\n')}2\r\nok\r\n0\r\n\r\n`],
    ['a coding after a no-break space', `${head('transfer-encoding: \xa0chunked\r\n')}0\r\n\r\n`],
    ['a signed length', length(' +2')],
    ['a length before a space', length(' 2 ')],
    ['a length before a tab', length(' 2\t')],
    ['a length after a no-break space', length(' \xa02')],
    ['a length before a no-break space', length(' 2\xa0')],
    ['a length in hex', length(' 0x2')],
    ['a huge length', length(` ${'9'.repeat(20)}`)],
    ['no length', length('')],
    ['a space before the colon', `${head('content-length : 2\r\n')}ok`],
    ['a folded line', `${head('x: a\r\n b\r\ncontent-length: 2\r\n')}ok`],
    ['a line without a colon', `${head('x\r\ncontent-length: 2\r\n')}ok`],
    ['a bare line feed', OK.replace('\r\n', '\n')],
    ['a bare carriage return', `${head('x: a\rb\r\ncontent-length: 2\r\n')}ok`],
    ['a zero byte', `${head('x: a\0b\r\ncontent-length: 2\r\n')}ok`],
    ['an endless head', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(10_000)}`],
    ['an endless field', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}`],
    ['the end of the connection before the response', `HTTP/1.1 103 E\r\nconnection: close\r\n\r\n${OK}`],
    ['HTTP/1.0 before the response', `HTTP/1.0 103 E\r\n\r\n${OK}`],
    ['an unrequested 100 Continue', `HTTP/1.1 100 Continue\r\n\r\n${OK}`],
    ['a chunk without a size', chunked('\r\nabc\r\n0\r\n\r\n')],
    ['a size in other letters', chunked('g\r\n')],
    ['a signed size', chunked('-1\r\n')],
    ['a size with a prefix', chunked('0x3\r\nabc\r\n0\r\n\r\n')],
    ['a size after a space', chunked(' 3\r\nabc\r\n0\r\n\r\n')],
    ['a size before a space', chunked('3 \r\nabc\r\n0\r\n\r\n')],
    ['a huge size', chunked(`${'f'.repeat(17)}\r\nabc`)],
    ['a chunk longer than its size', chunked('3\r\nabcd\r\n0\r\n\r\n')],
    ['a size that ends in a line feed', chunked('3\nabc\r\n0\r\n\r\n')],
    ['a chunk that ends in a line feed', chunked('3\r\nabc\n0\r\n\r\n')],
    ['an extension with a line feed', chunked('3;a\nb\r\nabc\r\n0\r\n\r\n')],
    ['an extension after a space', chunked('3; a\r\nabc\r\n0\r\n\r\n')],
    ['an endless extension', chunked(`3;${'a'.repeat(20_000)}`)],
    ['a trailer that is not a field', chunked('0\r\nx\r\n\r\n')],
    ['a folded trailer', chunked('0\r\nx: a\r\n b\r\n\r\n')],
    ['a length among the trailers', chunked('0\r\nContent-Length: 0\r\n\r\n')],
    ['an endless trailer', chunked(`0\r\n${'x: y\r\n'.repeat(10_000)}`)],
  ])('fails: %s', async (_what, text) => {
    for (const pieces of [
      [bytes(text)],
      text.length < 500 ? [...text].map(bytes) : cut(bytes(text), [99, 999]),
    ]) {
      const client = server.client();
      answerWith(pieces);
      const failed = await post(client, new Heard(TIMEOUTS)).done();
      expect(failed).toMatchObject({ ends: 0, errors: [expect.any(Error)] });
      // The connection carries no other call.
      expect(client.unused).toBe(true);
    }
  });
});
