import { createHook } from 'node:async_hooks';
import { get, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { PASSWORD, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';

interface Raw {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** Over node:http: `fetch` would decompress and hide what came. */
const askAt = (url: string, headers: Record<string, string> = {}, body?: unknown): Promise<Raw> =>
  new Promise((resolve, reject) => {
    const options = {
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    };
    const call = body === undefined ? get : request;
    const sent = call(url, { ...options, method: body === undefined ? 'GET' : 'POST' }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () =>
        resolve({ status: answer.statusCode!, headers: answer.headers, body: Buffer.concat(chunks) }),
      );
    }).on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });

describe('responses above 1 KiB', () => {
  const suite = usePlatform();
  const ask = (path: string, headers: Record<string, string> = {}, body?: unknown): Promise<Raw> =>
    askAt(`${suite.url}${path}`, headers, body);

  test.each([
    ['br', 'gzip, deflate, br', brotliDecompressSync],
    ['gzip', 'gzip;q=0.5', gunzipSync],
  ])('are sent as %s to clients that accept it', async (encoding, accepted, decompress) => {
    for (const path of ['/openapi.json', '/docs/api', '/docs/graphql', '/api/plans']) {
      const plain = await ask(path);
      const answer = await ask(path, { 'accept-encoding': accepted });
      expect([path, plain.headers['content-encoding']]).toEqual([path, undefined]);
      expect([path, answer.headers['content-encoding']]).toEqual([path, encoding]);
      expect(answer.headers.vary).toMatch(/accept-encoding/);
      expect(decompress(answer.body).equals(plain.body)).toBe(true);
      expect(answer.body.length).toBeLessThan(plain.body.length / 2);
    }
  });

  test("include queries and exports, but no response that contains a secret next to the caller's data", async () => {
    const { token, user } = await signUp(suite.url);
    const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'br' };
    const encodingOf = async (path: string, body?: unknown): Promise<unknown> => {
      const answer = await ask(path, headers, body);
      expect(answer.status).toBeLessThan(300);
      return answer.headers['content-encoding'];
    };
    const types = '{ __schema { types { name description } } }';
    expect(await encodingOf('/graphql', { query: types })).toBe('br');
    expect(await encodingOf('/api/usage.csv')).toBe('br');
    const long = 'x'.repeat(100);
    const aliases = Array.from({ length: 12 }, (_, i) => `a${i}${long}: accessToken`).join(' ');
    const login = `mutation ($input: LoginInput!) { login(input: $input) { ${aliases} } }`;
    const input = { email: user.email, password: PASSWORD };
    const answer = await ask('/graphql', headers, { query: login, variables: { input } });
    // Long enough, and with the token in it.
    expect([answer.status, answer.body.length > 1_024]).toEqual([200, true]);
    expect(answer.body.toString()).toContain('eyJ');
    expect(answer.headers['content-encoding']).toBeUndefined();
    const short = await ask('/health', { 'accept-encoding': 'br' });
    expect([short.status, short.headers['content-encoding']]).toEqual([200, undefined]);
  });
});

describe('documents that are the same for everybody', () => {
  const suite = usePlatform({ own: true });

  test.each(['/openapi.json', '/docs/api'])(
    '%s is compressed once for all, and not sent again to clients that have it',
    async (path) => {
      let compressions = 0;
      const counting = createHook({
        init(_id, type) {
          if (type === 'ZLIB') compressions++;
        },
      }).enable();
      const ask = (headers: Record<string, string> = {}) =>
        askAt(`${suite.url}${path}`, { 'accept-encoding': 'gzip', ...headers });
      try {
        const answers = await Promise.all(Array.from({ length: 20 }, () => ask()));
        for (const { status, headers } of answers)
          expect([status, headers['content-encoding']]).toEqual([200, 'gzip']);
        expect(compressions).toBe(1);
        const known = await ask({ 'if-none-match': String(answers[0]!.headers.etag) });
        expect([known.status, known.body.length]).toEqual([304, 0]);
      } finally {
        counting.disable();
      }
    },
  );
});
