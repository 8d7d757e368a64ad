import { createHash } from 'node:crypto';
import { get } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { usePlatform } from '../support/platform-suite.js';
import { useProduct } from '../support/product-suite.js';

interface RawAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** Over node:http: `fetch` would decompress the body. */
function getRaw(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    get(url, { headers, method }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    })
      .on('error', reject)
      .end();
  });
}

/** The files of web/, served over the edge as at the public address. */
describe('the pages and assets of the web build', () => {
  const suite = useProduct();
  let script: string;
  beforeAll(async () => {
    const document = await fetch(`${suite.url}/login`);
    script = /href="(\/assets\/app-[^"]+\.js)"/.exec(await document.text())![1]!;
  });

  test.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ])('an asset comes as %s to whoever takes it, ready made', async (encoding, decompress) => {
    const plain = await getRaw(`${suite.url}${script}`);
    const answer = await getRaw(`${suite.url}${script}`, {
      'accept-encoding': `${encoding};q=0.8, identity`,
    });
    expect(answer.headers).toMatchObject({
      'content-encoding': encoding,
      'content-length': String(answer.body.length),
      'content-type': 'text/javascript; charset=utf-8',
      vary: 'accept-encoding',
    });
    expect(decompress(answer.body).equals(plain.body)).toBe(true);
    expect(answer.body.length).toBeLessThan(plain.body.length);
    expect(answer.headers.etag).not.toBe(plain.headers.etag);
  });

  test.each(['', 'identity', 'br;q=0, gzip; q=0', 'deflate'])('and as it is for %j', async (accepted) => {
    const answer = await getRaw(`${suite.url}${script}`, { 'accept-encoding': accepted });
    expect(answer.status).toBe(200);
    expect(answer.headers).not.toHaveProperty('content-encoding');
    expect(answer.body.toString()).toContain('import');
  });

  test('an asset may be cached forever, and is revalidated without a body', async () => {
    const answer = await getRaw(`${suite.url}${script}`, { 'accept-encoding': 'br' });
    expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    const etag = String(answer.headers.etag);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const again = await getRaw(`${suite.url}${script}`, {
        'accept-encoding': 'br',
        'if-none-match': known,
      });
      expect([again.status, again.body.length]).toEqual([304, 0]);
      expect(again.headers).toMatchObject({ etag, vary: 'accept-encoding' });
    }
    const other = await getRaw(`${suite.url}${script}`, {
      'accept-encoding': 'gzip',
      'if-none-match': etag,
    });
    expect(other.status).toBe(200);
  });

  test('HEAD returns the size without a body', async () => {
    const head = await getRaw(`${suite.url}${script}`, { 'accept-encoding': 'br' }, 'HEAD');
    const whole = await getRaw(`${suite.url}${script}`, { 'accept-encoding': 'br' });
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers['content-length']).toBe(String(whole.body.length));
  });

  test.each(['/assets/app-gone.js', '/assets/', '/assets/../manifest.json', '/assets/%2e%2e/manifest.json'])(
    '%s isn’t found, and that isn’t cached',
    async (path) => {
      const answer = await getRaw(`${suite.url}${path}`);
      expect(answer.status).toBe(404);
      expect(answer.headers['cache-control']).toBe('no-store');
    },
  );

  test.each(['/login', '/signup', '/dashboard', '/dashboard/keys/1', '/admin', '/admin/users'])(
    '%s serves the dashboard, with a new nonce in every response',
    async (path) => {
      const [first, second] = await Promise.all([
        getRaw(`${suite.url}${path}`),
        getRaw(`${suite.url}${path}`),
      ]);
      const nonces = [first, second].map(({ headers, body }) => {
        const policy = String(headers['content-security-policy']);
        const nonce = /style-src 'self' 'nonce-([^']{20,})'/.exec(policy)?.[1];
        // The document has two inline scripts, and the policy only allows their exact texts.
        expect(policy).toMatch(/script-src 'self'(?: 'sha256-[A-Za-z0-9+/]{43}='){2};/);
        expect(policy).toContain("frame-ancestors 'none'");
        expect(body.toString()).toContain(`<meta property="csp-nonce" nonce="${nonce}">`);
        expect(body.toString()).not.toContain('%CSP_NONCE%');
        return nonce;
      });
      expect(nonces[0]).not.toBe(nonces[1]);
      // A cached copy with an old nonce would have no styles under a new policy.
      expect(first.headers['cache-control']).toBe('no-cache');
      expect(first.headers).not.toHaveProperty('etag');
    },
  );

  test('the playground runs scripts of this site only', async () => {
    const { headers, status } = await getRaw(`${suite.url}/graphql/playground`);
    expect(status).toBe(200);
    expect(headers['content-security-policy']).toMatch(/script-src 'self'; worker-src 'self';/);
  });

  test('no document loads from another host, or has an inline script without its hash in the policy', async () => {
    for (const [path, count] of [
      ['/login', 2],
      ['/graphql/playground', 0],
    ] as const) {
      const { body, headers } = await getRaw(`${suite.url}${path}`);
      const text = body.toString();
      const scripts = [...text.matchAll(/<script\b[^>]*>([^<][\s\S]*?)<\/script>/g)].map(
        ([, script]) => script!,
      );
      expect(scripts).toHaveLength(count);
      for (const script of scripts) {
        const hash = createHash('sha256').update(script).digest('base64');
        expect(headers['content-security-policy']).toContain(`'sha256-${hash}'`);
      }
      expect(text.match(/(?:src|href)="(?!\/|data:)[^"]*"/g)).toBeNull();
    }
  });

  test('the edge forwards the largest asset quickly', async () => {
    const document = (await getRaw(`${suite.url}/graphql/playground`)).body.toString();
    const large = /src="(\/assets\/graphql-playground-[^"]+\.js)"/.exec(document)![1]!;
    await getRaw(`${suite.url}${large}`);
    const began = performance.now();
    const { body } = await getRaw(`${suite.url}${large}`);
    expect(body.length).toBeGreaterThan(500_000);
    expect(performance.now() - began).toBeLessThan(1_000);
  });
});

describe('a checkout whose pages are not built', () => {
  const suite = usePlatform({ web: null });

  test('serves its API, and explains on the pages how to build them', async () => {
    for (const path of ['/login', '/graphql/playground', '/assets/app-1.js']) {
      const answer = await getRaw(`${suite.url}${path}`);
      expect(answer.status).toBe(503);
      expect(answer.body.toString()).toContain('npm run build');
    }
    expect((await getRaw(`${suite.url}/api/models`)).status).toBe(200);
  });
});
