import { get } from 'node:http';
import type { Socket } from 'node:net';
import { brotliDecompressSync } from 'node:zlib';
import { call, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';
import { until } from '../support/until.js';
import { writeLongPrompts } from './long-prompts.js';
import { usePromptOwner } from './support.js';

const MIB = 1024 * 1024;

describe('lists of long prompts', () => {
  const suite = usePlatform();
  const { owner, api } = usePromptOwner(suite);
  /** An answer to the byte. */
  const textOf = async (path: string): Promise<string> => {
    const { status, text } = await api.ask('GET', path);
    expect(status).toBe(200);
    return text;
  };

  test('are sent in pieces, and read the same as in one', async () => {
    for (let n = 0; n < 8; n++) {
      // Long ones among short ones.
      await api.create({
        name: `Prompt ${n}`,
        content: n % 2 === 0 ? `"${n} 🌳"`.repeat(9_000) : `short ${n}`,
      });
    }
    const alone = [];
    for (let n = 0; n < 8; n++) alone.push((await textOf(`?limit=1&offset=${n}`)).slice(1, -1));
    expect(await textOf('')).toBe(`[${alone.join(',')}]`);
    expect(await textOf('?limit=3&offset=2')).toBe(`[${alone.slice(2, 5).join(',')}]`);
    expect(await textOf('?search=prompt')).toBe(`[${alone.join(',')}]`);
    const plain = (query: string) =>
      call(suite.url, 'GET', `/api/prompts${query}`, {
        token: owner.token,
        headers: { 'accept-encoding': 'identity' },
      });
    const [whole, inPieces] = [await plain('?limit=1'), await plain('')];
    for (const { headers } of [whole, inPieces])
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(whole.headers.get('content-length')).toBe(String(Buffer.byteLength(whole.text)));
    expect(inPieces.headers.get('content-length')).toBeNull();
    const head = await call(suite.url, 'HEAD', '/api/prompts', { token: owner.token });
    expect([head.status, head.text]).toEqual([200, '']);
  });

  test('are compressed for clients that accept it', async () => {
    await writeLongPrompts(suite.db, owner.accountId, 3);
    const plain = await textOf('');
    const body = await new Promise<Buffer>((resolve, reject) => {
      const headers = { authorization: `Bearer ${owner.token}`, 'accept-encoding': 'br' };
      get(`${suite.url}/api/prompts`, { headers }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => resolve(Buffer.concat(chunks)));
      }).on('error', reject);
    });
    expect(brotliDecompressSync(body).toString()).toBe(plain);
    expect(body.length).toBeLessThan(plain.length / 10);
  });

  test('and a prompt with long versions are sent the same way', async () => {
    const prompt = await api.create({ content: 'x'.repeat(50_000) });
    const versions = [prompt.active_version];
    for (let n = 2; n < 10; n++) {
      versions.unshift(await api.addVersion(prompt.id, { content: `[]${n}`.repeat(12_000), notes: '[]}' }));
    }
    const [listed] = await api.must<object[]>(200, 'GET', '');
    expect(await textOf(`/${prompt.id}`)).toBe(JSON.stringify({ ...listed, versions }));
  });

  test('take little memory for each reader, however slow, and others are answered', async () => {
    await writeLongPrompts(suite.db, owner.accountId, 100);
    const { token: stranger } = await signUp(suite.url);
    const ends: Socket[] = [];
    const note = (socket: Socket): number => ends.push(socket);
    const { server } = suite.platform.app;
    server.on('connection', note);
    const headers = { authorization: `Bearer ${owner.token}` };
    // Each reads the head and nothing of 20 MB.
    const readers = Array.from({ length: 12 }, () =>
      get(`${suite.url}/api/prompts?limit=500`, { agent: false, headers }),
    );
    try {
      await Promise.all(
        readers.map(
          (reader) => new Promise((resolve) => reader.once('response', resolve).once('error', resolve)),
        ),
      );
      const waiting = (): number => ends.reduce((sum, { writableLength }) => sum + writableLength, 0);
      await until(
        async () => {
          const before = waiting();
          const { status } = await call(suite.url, 'GET', '/api/auth/me', { token: stranger });
          expect(status).toBe(200);
          return before > 0 && waiting() === before;
        },
        { what: 'every reader to be waited for' },
      );
      expect(waiting()).toBeLessThan(32 * MIB);
    } finally {
      server.off('connection', note);
      for (const reader of readers) reader.destroy();
    }
    await until(() => ends.every(({ destroyed }) => destroyed), { what: 'the readers to be gone' });
    expect(await api.must(200, 'GET', '?limit=500')).toHaveLength(100);
  });
});
