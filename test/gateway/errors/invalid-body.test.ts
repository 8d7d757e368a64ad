import { gzipSync } from 'node:zlib';
import { createTestKey, errorOf, postChat, usageOf } from '../../support/edge.js';
import { useEdge } from '../../support/edge-suite.js';

describe('400 invalid_body', () => {
  const suite = useEdge();

  test.each([
    ['no JSON', 'hello', null],
    ['an empty body', '', null],
    ['a list', '[]', null],
    ['no model', '{"messages":[]}', 'model'],
    ['a model that is no text', '{"model":{}}', 'model'],
    ['model named twice', '{"model":"gateway/fast","model":"gateway/qwen-pro"}', 'model'],
    ['n of 1000', '{"model":"gateway/fast","n":1000}', 'n'],
  ])('answers %s, and nothing is recorded or forwarded', async (_what, body, param) => {
    const { key, accountId } = await createTestKey(suite.db);
    const before = suite.upstream.seen.length;
    const response = await postChat(suite.edge.url, key, body);
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toEqual({
      message: expect.any(String),
      type: 'invalid_request_error',
      param,
      code: 'invalid_body',
    });
    expect(suite.upstream.seen).toHaveLength(before);
    await suite.edge.settled();
    expect(await usageOf(suite.db, accountId)).toEqual([]);
  });

  const JSON_TEXT = '{"model":"gateway/fast","messages":[]}';
  const utf16be = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();
  const utf32 = (text: string, isBig: boolean): Buffer =>
    Buffer.concat(
      [...text].map((character) => {
        const bytes = Buffer.alloc(4);
        if (isBig) bytes.writeUInt32BE(character.codePointAt(0)!);
        else bytes.writeUInt32LE(character.codePointAt(0)!);
        return bytes;
      }),
    );

  test.each([
    ['a byte order mark', Buffer.from(`\ufeff${JSON_TEXT}`)],
    ['UTF-16 (little endian, with a byte order mark)', Buffer.from(`\ufeff${JSON_TEXT}`, 'utf16le')],
    ['UTF-16 (big endian, with a byte order mark)', utf16be(`\ufeff${JSON_TEXT}`)],
    ['UTF-16 (little endian)', Buffer.from(JSON_TEXT, 'utf16le')],
    ['UTF-16 (big endian)', utf16be(JSON_TEXT)],
    ['UTF-32 (little endian, with a byte order mark)', utf32(`\ufeff${JSON_TEXT}`, false)],
    ['UTF-32 (big endian, with a byte order mark)', utf32(`\ufeff${JSON_TEXT}`, true)],
    ['UTF-32 (little endian)', utf32(JSON_TEXT, false)],
    ['UTF-32 (big endian)', utf32(JSON_TEXT, true)],
    ['compressed (gzip)', gzipSync(JSON_TEXT)],
    ['Windows-1252', Buffer.from('{"model":"gateway/fast","x":"\xe9"}', 'latin1')],
  ])('the message names what a body is in: %s', async (named, body) => {
    const { key } = await createTestKey(suite.db);
    const response = await postChat(suite.edge.url, key, body);
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({
      code: 'invalid_body',
      message: expect.stringContaining(named),
    });
  });

  test('a body of 10 MiB passes, one byte more is 413 body_too_large', async () => {
    const { key } = await createTestKey(suite.db, { balance: '100' });
    const limit = 10 * 1024 * 1024;
    const frame = '{"model":"gateway/fast","x":""}'.length;
    const body = (size: number) => JSON.stringify({ model: 'gateway/fast', x: 'y'.repeat(size - frame) });
    expect((await postChat(suite.edge.url, key, body(limit))).status).toBe(200);
    const response = await postChat(suite.edge.url, key, body(limit + 1));
    expect(response.status).toBe(413);
    expect(await errorOf(response)).toMatchObject({
      code: 'body_too_large',
      message: 'The body is larger than 10 MiB.',
    });
  });

  test('a body is JSON whatever its content type says', async () => {
    const { key } = await createTestKey(suite.db);
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json; charset=utf-8',
    ]) {
      expect((await postChat(suite.edge.url, key, {}, { 'content-type': type })).status).toBe(200);
    }
  });

  test('an encoded body is 415', async () => {
    const { key } = await createTestKey(suite.db);
    const response = await postChat(suite.edge.url, key, {}, { 'content-encoding': 'gzip' });
    expect(response.status).toBe(415);
    expect(await errorOf(response)).toMatchObject({
      code: 'unsupported_media_type',
      message: 'Content-Encoding "gzip" is not supported. Send the body uncompressed.',
    });
  });
});
