import { NODE_SECRET } from '../nodes/support.js';
import { onBusyMachine } from '../support/busy.js';
import { platformRoutes } from '../support/platform-routes.js';
import { codeOf, exchange, requestText } from './raw.js';
import { useHostileSuite } from './suite.js';

const MIB = 2 ** 20;
const V1_BYTES = 10 * MIB;

/** A body with so many bytes; the white space is part of it. */
function padded(json: string, bytes: number): string {
  return json.slice(0, -1) + ' '.repeat(bytes - json.length) + json.slice(-1);
}

const chunked = (text: string): string => {
  const chunks: string[] = [];
  for (let at = 0; at < text.length; at += 65_000) {
    const part = text.slice(at, at + 65_000);
    chunks.push(`${part.length.toString(16)}\r\n${part}\r\n`);
  }
  return `${chunks.join('')}0\r\n\r\n`;
};

/** Requirement T25: what is allowed is allowed to the last byte, and not one more. */
describe('at the limit', () => {
  const suite = useHostileSuite();
  const framings = ['Content-Length', 'chunked'] as const;

  async function send(
    line: string,
    headers: string[],
    body: string,
    framing: (typeof framings)[number],
    contentType = 'application/json',
  ) {
    const [frame, text] =
      framing === 'chunked'
        ? ['Transfer-Encoding: chunked', chunked(body)]
        : [`Content-Length: ${body.length}`, body];
    const all = ['Connection: close', `Content-Type: ${contentType}`, frame, ...headers];
    const answer = await exchange(suite.edge.url, requestText(line, all, text), {
      halfClose: false,
      timeoutMs: 15_000,
    });
    return [answer.statuses.at(-1), answer.statuses.at(-1) === 200 ? undefined : codeOf(answer.text)];
  }
  const bearer = (token: string) => [`Authorization: Bearer ${token}`];

  describe.each(framings)('of bodies, by %s', (framing) => {
    const chatBody = '{"model":"gateway/fast","messages":[]}';

    test('/v1 takes 10 MiB and not a byte more', async () => {
      const forwarded = () => suite.upstream.seen.length;
      const call = (bytes: number) =>
        send('POST /v1/chat/completions', bearer(suite.caller.key), padded(chatBody, bytes), framing);
      const before = forwarded();
      expect(await call(V1_BYTES - 1)).toEqual([200, undefined]);
      expect(await call(V1_BYTES)).toEqual([200, undefined]);
      expect(suite.upstream.seen.at(-1)!.body).toHaveLength(V1_BYTES);
      expect(await call(V1_BYTES + 1)).toEqual([413, 'body_too_large']);
      expect(forwarded() - before).toBe(2);
    }, 30_000);

    test('a body that is too large is refused before its end arrives', async () => {
      const [frame, text] =
        framing === 'chunked'
          ? ['Transfer-Encoding: chunked', chunked('x'.repeat(V1_BYTES + 1)).slice(0, -5)]
          : [`Content-Length: ${100 * V1_BYTES}`, ''];
      const head = requestText('POST /v1/chat/completions', [...bearer(suite.caller.key), frame], text);
      const { statuses, ms } = await exchange(suite.edge.url, head, {
        halfClose: false,
        timeoutMs: 15_000,
        until: (got) => got.includes('}'),
      });
      expect(statuses).toEqual([413]);
      // An upload may pause for ten.
      expect(ms).toBeLessThan(onBusyMachine(8_000));
    }, 30_000);

    // Log-out asks for nothing and would end the session of the others.
    const writers = platformRoutes.filter(({ method, url }) => method !== 'GET' && !url.endsWith('/logout'));
    test.each(writers.map((entry) => [`${entry.method} ${entry.url}`, entry] as const))(
      '%s takes what its entry says, a MiB at most',
      async (_name, { method, url, bodyLimitBytes, auth, contentTypes }) => {
        expect(bodyLimitBytes).toBeLessThanOrEqual(MIB);
        const token = { admin: suite.admin, internal: NODE_SECRET }[auth as string] ?? suite.user;
        const path = url.replace(/:\w+/g, '01900000-0000-7000-8000-000000000000');
        // No field has this name and nothing has this id: whatever reads the body refuses it then.
        const call = async (bytes: number) => {
          const body = padded('{"no such field":1}', bytes);
          return Number((await send(`${method} ${path}`, bearer(token), body, framing, contentTypes[0]))[0]);
        };
        for (const bytes of [bodyLimitBytes - 1, bodyLimitBytes]) {
          const status = await call(bytes);
          expect([status, status !== 413 && status < 500]).toEqual([status, true]);
        }
        expect(await call(bodyLimitBytes + 1)).toBe(413);
      },
    );
  });

  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

  test.each([0, 100_000])('of depth, /v1 takes 64 levels and not 65, with %i bytes more', async (more) => {
    const call = (depth: number) =>
      send(
        'POST /v1/chat/completions',
        bearer(suite.caller.key),
        padded(`{"model":"gateway/fast","messages":${nested(depth - 1)}}`, 300 + more),
        'Content-Length',
      );
    expect(await call(64)).toEqual([200, undefined]);
    expect(await call(65)).toEqual([400, 'invalid_body']);
  });

  test('of depth, /api takes 64 levels and not 65', async () => {
    const call = (depth: number) =>
      send('POST /api/keys', bearer(suite.user), `{"name":${nested(depth - 1)}}`, 'Content-Length');
    expect(await call(64)).toEqual([422, 'validation_error']);
    expect(await call(65)).toEqual([400, 'invalid_body']);
  });

  describe.each(['/v1/models', '/api/plans', '/health'])('of headers, on %s', (path) => {
    /** So many lines and bytes of headers altogether, with the request line. */
    async function ask(lines: number, bytes?: number) {
      const own = [...bearer(suite.caller.key), 'Connection: close'];
      // With the host that `requestText` writes.
      const fillers = Array.from({ length: lines - own.length - 1 }, (_, i) => `x-${i}: y`);
      if (bytes !== undefined) {
        const length = requestText(`GET ${path}`, [...own, ...fillers]).length;
        fillers[0] += 'y'.repeat(bytes - length);
      }
      const { statuses, text } = await exchange(
        suite.edge.url,
        requestText(`GET ${path}`, [...own, ...fillers]),
        {
          halfClose: false,
        },
      );
      return [statuses.at(-1), statuses.at(-1) === 200 ? undefined : codeOf(text)];
    }

    test('200 of them are accepted and not 201', async () => {
      expect(await ask(199)).toEqual([200, undefined]);
      expect(await ask(200)).toEqual([200, undefined]);
      expect(await ask(201)).toEqual([431, 'headers_too_large']);
    });

    test('64 KiB of them are accepted, and more gets nothing worse than 431', async () => {
      // Node counts names, values and the target, but not the characters between them.
      let [taken, refused] = [64 * 1024, 68 * 1024];
      expect(await ask(10, taken)).toEqual([200, undefined]);
      expect(await ask(10, refused)).toEqual([431, 'headers_too_large']);
      while (refused - taken > 1) {
        const middle = (taken + refused) >> 1;
        const [status, code] = await ask(10, middle);
        if (status === 200) taken = middle;
        else {
          expect([status, code]).toEqual([431, 'headers_too_large']);
          refused = middle;
        }
      }
      expect(refused).toBeLessThan(65 * 1024);
    });
  });

  test('of a host, 261 bytes are accepted and not 262', async () => {
    const ask = async (length: number) => {
      const text = requestText('GET /api/plans', ['Connection: close'], '', 'h'.repeat(length));
      return (await exchange(suite.edge.url, text, { halfClose: false })).statuses;
    };
    expect(await ask(261)).toEqual([200]);
    expect(await ask(262)).toEqual([400]);
  });
});
