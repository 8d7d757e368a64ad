import type { ResponseHead } from '../../../src/lib/upstream/response-head.js';
import { ResponseReader } from '../../../src/lib/upstream/response-reader.js';
import fc from '../../support/fast-check.js';

interface Read {
  head: ResponseHead | undefined;
  body: string;
  done: boolean;
  idleMs: number;
}

/** Reads `pieces`, each from a buffer that is overwritten afterwards, as the socket's is. */
function read(pieces: Buffer[], ended = false): Read {
  let head: ResponseHead | undefined;
  const body: Buffer[] = [];
  const reader = new ResponseReader({
    onHead(told) {
      expect(head).toBeUndefined();
      head = told;
    },
    onData(chunk) {
      expect(head).toBeDefined();
      expect(chunk.length).toBeGreaterThan(0);
      body.push(chunk);
    },
  });
  for (const piece of pieces) {
    if (reader.done) break;
    const shared = Buffer.from(piece);
    reader.read(shared);
    shared.fill(0x21);
  }
  if (ended) reader.end();
  return { head, body: Buffer.concat(body).toString('latin1'), done: reader.done, idleMs: reader.idleMs };
}

function cut(bytes: Buffer, places: number[]): Buffer[] {
  const sorted = [
    0,
    ...new Set(places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b)),
    bytes.length,
  ];
  return sorted
    .slice(1)
    .map((end, i) => bytes.subarray(sorted[i], end))
    .filter((piece) => piece.length > 0);
}

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
const chunk = (data: Buffer, extension: string): Buffer =>
  Buffer.concat([bytes(`${data.length.toString(16)}${extension}\r\n`), data, bytes('\r\n')]);

const data = fc.uint8Array({ minLength: 1, maxLength: 300 }).map((array) => Buffer.from(array));
const places = fc.array(fc.nat(5_000), { maxLength: 40 });
const name = fc.constantFrom('Content-Type', 'content-type', 'CONTENT-TYPE');

describe('an answer, wherever its bytes are cut', () => {
  test('with a length, is what was sent', () => {
    fc.assert(
      fc.property(fc.array(data), name, places, fc.boolean(), (parts, field, cuts, early) => {
        const body = Buffer.concat(parts);
        const hints = early ? 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n' : '';
        const head = `${hints}HTTP/1.1 200 OK\r\n${field}:  application/json \r\ncontent-length: ${body.length}\r\n\r\n`;
        const result = read(cut(Buffer.concat([bytes(head), body]), cuts));
        expect(result).toMatchObject({ body: body.toString('latin1'), done: true, idleMs: 4_000 });
        expect(result.head).toMatchObject({ status: 200, contentType: 'application/json' });
      }),
      { numRuns: 1_000 },
    );
  });

  test('in chunks, is what was sent', () => {
    const extension = fc.constantFrom('', ';a=b', ';q="x y"');
    const trailer = fc.constantFrom('', 'x-sum: 1\r\n', 'a: 1\r\nb: 2\r\n');
    fc.assert(
      fc.property(fc.array(fc.tuple(data, extension)), trailer, places, (parts, fields, cuts) => {
        const sent = Buffer.concat([
          bytes('HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n'),
          ...parts.map(([part, more]) => chunk(part, more)),
          bytes(`0\r\n${fields}\r\n`),
        ]);
        const result = read(cut(sent, cuts));
        expect(result).toMatchObject({ done: true, idleMs: 4_000 });
        expect(result.body).toBe(Buffer.concat(parts.map(([part]) => part)).toString('latin1'));
      }),
      { numRuns: 1_000 },
    );
  });

  test('in a chunk whose size is cut where the rest looks like a whole chunk, is what was sent', () => {
    const pieces = ['1', '5\r\nhello\r\n', `${'x'.repeat(14)}\r\n0\r\n\r\n`].map(bytes);
    const answer = read([bytes('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'), ...pieces]);
    expect(answer).toMatchObject({ done: true, body: `hello\r\n${'x'.repeat(14)}` });
  });

  test('in tiny chunks, holds no more memory than twice its bytes', () => {
    const kept: Buffer[] = [];
    const reader = new ResponseReader({ onHead: () => undefined, onData: (piece) => kept.push(piece) });
    reader.read(bytes('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'));
    const piece = bytes('1\r\nx\r\n'.repeat(10_000));
    for (let i = 0; i < 10; i++) reader.read(piece);
    const held = new Set(kept.map(({ buffer }) => buffer));
    const heldBytes = [...held].reduce((sum, { byteLength }) => sum + byteLength, 0);
    expect(Buffer.concat(kept).length).toBe(100_000);
    expect(heldBytes).toBeLessThanOrEqual(200_000);
  });

  test('to the end of the connection, is what was sent, and the connection carries no other', () => {
    fc.assert(
      fc.property(fc.array(data), places, (parts, cuts) => {
        const body = Buffer.concat(parts);
        const sent = Buffer.concat([bytes('HTTP/1.1 200 OK\r\n\r\n'), body]);
        expect(read(cut(sent, cuts))).toMatchObject({ done: false });
        expect(read(cut(sent, cuts), true)).toMatchObject({
          body: body.toString('latin1'),
          done: true,
          idleMs: 0,
        });
      }),
    );
  });

  test('that breaks off is no answer', () => {
    const whole = bytes('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n');
    for (let end = 0; end < whole.length; end++) {
      expect(() => read([whole.subarray(0, end)], true)).toThrow('cut off');
    }
    expect(read([whole], true)).toMatchObject({ done: true, body: 'abc' });
  });

  test('of noise never makes the reader fail in another way', () => {
    const noise = fc.oneof(
      fc.string({
        unit: fc.constantFrom('0', 'a', 'f', ';', ':', ' ', '\r', '\n', '\r\n', 'HTTP/1.1 200\r\n', '\0'),
      }),
      fc.uint8Array().map((array) => Buffer.from(array).toString('latin1')),
    );
    const before = fc.constantFrom(
      '',
      'HTTP/1.1 200 OK\r\n',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
    );
    fc.assert(
      fc.property(before, noise, places, (start, rest, cuts) => {
        try {
          read(cut(bytes(start + rest), cuts), true);
        } catch (error) {
          expect(error).toMatchObject({ code: 'UPSTREAM_GARBAGE' });
        }
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('what a connection does after an answer', () => {
  const restAfter = (fields: string, version = '1.1'): number =>
    read([bytes(`HTTP/${version} 200 OK\r\n${fields}content-length: 0\r\n\r\n`)]).idleMs;
  test.each([
    ['', 4_000],
    ['connection: keep-alive\r\n', 4_000],
    ['connection: close\r\n', 0],
    ['Connection: Foo, Close\r\n', 0],
    ['keep-alive: timeout=72\r\n', 71_000],
    ['Keep-Alive: max=3, timeout=5\r\n', 4_000],
    ['keep-alive: timeout=1\r\n', 0],
    ['keep-alive: timeout=999999\r\n', 600_000],
    ['connection: close\r\nkeep-alive: timeout=72\r\n', 0],
    ['keep-alive: timeout=72\r\nconnection: close\r\n', 0],
    ['Proxy-Connection: close\r\n', 0],
    ['proxy-connection: keep-alive\r\n', 4_000],
  ])('%j: it rests for %d ms', (fields, ms) => expect(restAfter(fields)).toBe(ms));

  test('HTTP/1.0 ends with its answer', () => expect(restAfter('', '1.0')).toBe(0));

  test('bytes behind the answer end it', () => {
    const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
    expect(read([bytes(`${answer}HTTP/1.1 200 OK\r\n`)])).toMatchObject({
      body: 'ok',
      done: true,
      idleMs: 0,
    });
    const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n';
    expect(read([bytes(`${chunked}x`)])).toMatchObject({ body: '', done: true, idleMs: 0 });
  });

  test('spaces and tabs around a value are none of it', () => {
    const answer = 'HTTP/1.1 200 OK\r\ncontent-length:\t 2\r\nx-request-id: \ta b\t \r\n\r\nok';
    expect(read([bytes(answer)])).toMatchObject({ body: 'ok', done: true, head: { requestId: 'a b' } });
  });

  test.each([204, 304])('a %d has no body', (status) => {
    const answer = (fields: string) => read([bytes(`HTTP/1.1 ${status} X\r\n${fields}\r\n`)]);
    for (const fields of ['', 'content-length: 0\r\n'])
      expect(answer(fields)).toMatchObject({ done: true, idleMs: 4_000 });
    // The body that it tells of may follow.
    for (const fields of ['content-length: 5\r\n', 'transfer-encoding: chunked\r\n'])
      expect(answer(fields)).toMatchObject({ done: true, idleMs: 0 });
  });
});

describe('an answer that readers could read in two ways is refused', () => {
  const head = (fields: string): string => `HTTP/1.1 200 OK\r\n${fields}\r\n`;
  const chunked = (body: string): string => head('transfer-encoding: chunked\r\n') + body;
  test.each([
    ['no HTTP', 'SSH-2.0-OpenSSH\r\n\r\n'],
    ['HTTP/2', 'HTTP/2.0 200 OK\r\n\r\n'],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['no status', 'HTTP/1.1 OK\r\n\r\n'],
    ['another protocol', 'HTTP/1.1 101 Switching\r\nupgrade: h2c\r\n\r\n'],
    ['two lengths', head('content-length: 1\r\ncontent-length: 1\r\n')],
    ['two lengths in one', head('content-length: 1, 1\r\n')],
    ['a length and chunks', head('content-length: 1\r\ntransfer-encoding: chunked\r\n')],
    ['chunks and a length', head('transfer-encoding: chunked\r\ncontent-length: 1\r\n')],
    ['two codings', head('transfer-encoding: gzip, chunked\r\n')],
    ['an unknown coding', head('transfer-encoding: xchunked\r\n')],
    ['a signed length', head('content-length: +1\r\n')],
    ['a length before a space', head('content-length: 1 \r\n')],
    ['a length before a tab', head('content-length: 1\t\r\n')],
    ['a coding before a tab', head('transfer-encoding: chunked\t\r\n')],
    ['chunks in HTTP/1.0', 'HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'],
    ['the end of the connection before the answer', `HTTP/1.1 103 E\r\nconnection: close\r\n\r\n${head('')}`],
    ['HTTP/1.0 before the answer', `HTTP/1.0 103 E\r\n\r\n${head('')}`],
    ['a length behind what only some call white space', head('content-length: \xa01\r\n')],
    ['a length in front of it', head('content-length: 1\xa0\r\n')],
    ['a coding behind it', head('transfer-encoding: \xa0chunked\r\n')],
    ['a length in hex', head('content-length: 0x1\r\n')],
    ['a huge length', head(`content-length: ${'9'.repeat(20)}\r\n`)],
    ['no length', head('content-length:\r\n')],
    ['a space before the colon', head('content-length : 1\r\n')],
    ['a folded line', head('x: a\r\n b\r\n')],
    ['a line without a colon', head('x\r\n')],
    ['a bare line feed', 'HTTP/1.1 200 OK\ncontent-length: 1\r\n\r\n'],
    ['a bare carriage return', head('x: a\rb\r\n')],
    ['a zero byte', head('x: a\0b\r\n')],
    ['an endless head', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(5_000)}`],
    ['a long head', head('x: y\r\n'.repeat(5_000))],
    ['a chunk without a size', chunked('\r\nabc')],
    ['a size in other letters', chunked('g\r\n')],
    ['a signed size', chunked('-1\r\n')],
    ['a size with a prefix', chunked('0x3\r\nabc')],
    ['a size behind a space', chunked(' 3\r\nabc')],
    ['a size before a space', chunked('3 \r\nabc')],
    ['a huge size', chunked('fffffffff\r\n')],
    ['a chunk longer than told', chunked('3\r\nabcd\r\n')],
    ['a size that ends in a line feed', chunked('3\nabc\r\n')],
    ['a chunk that ends in a line feed', chunked('3\r\nabc\n')],
    ['a chunk that ends in two bytes of other kinds', chunked('3\r\nabcde')],
    ['an endless extension', chunked(`3;${'a'.repeat(20_000)}`)],
    ['an extension with a line feed', chunked('3;a\nb\r\nabc\r\n')],
    ['an extension without a name', chunked('3;=a\r\nabc')],
    ['an extension behind a space', chunked('3; a\r\nabc')],
    ['an extension of other letters', chunked('3;a=[\r\nabc')],
    ['a trailer that is no field', chunked('0\r\nx\r\n')],
    ['a folded trailer', chunked('0\r\nx: a\r\n b\r\n')],
    ['a length among the trailers', chunked('0\r\nContent-Length: 3\r\n')],
    ['an endless trailer', chunked(`0\r\n${'x: y\r\n'.repeat(5_000)}`)],
  ])('%s', (_what, text) => {
    const behindHead = text.indexOf('\r\n\r\n') + 4;
    const [head, body] = [bytes(text.slice(0, behindHead)), bytes(text.slice(behindHead))];
    for (const pieces of [[bytes(text)], [head, body], [...bytes(text)].map((byte) => Buffer.from([byte]))]) {
      expect(() => read(pieces)).toThrow(expect.objectContaining({ code: 'UPSTREAM_GARBAGE' }));
    }
  });
});
