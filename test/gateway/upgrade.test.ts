import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { exchange, HANDSHAKE, open, requestText } from '../hostile/raw.js';
import { startTestEdge, type TestEdge } from '../support/edge.js';
import { ownTime } from '../support/own-time.js';
import { usePlatform } from '../support/platform-suite.js';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';

/** A WebSocket goes to the platform, which alone knows where one may be opened and by whom. */
describe('an upgrade', () => {
  const suite = usePlatform();
  let upstream: ScriptedUpstream;
  beforeAll(async () => {
    upstream = await startScriptedUpstream();
  });
  afterAll(() => upstream.close());

  describe('of a path that the platform has', () => {
    let server: Server;
    let sockets: WebSocketServer;
    let edge: TestEdge;
    const seen: IncomingMessage[] = [];
    const ends: Socket[] = [];
    beforeAll(async () => {
      server = createServer();
      sockets = new WebSocketServer({ noServer: true });
      server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
        seen.push(request);
        ends.push(socket);
        if (request.headers.origin === 'https://evil.example') {
          socket.end('HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\ncontent-length: 3\r\n\r\nno!');
          return;
        }
        sockets.handleUpgrade(request, socket, head, (accepted) => {
          accepted.on('message', (data, isBinary) => accepted.send(data, { binary: isBinary }));
        });
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const platformUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      edge = await startTestEdge(suite.db, { upstreamUrl: upstream.url, platformUrl });
    });
    afterAll(async () => {
      await edge.close();
      for (const end of ends) end.destroy();
      server.close();
    });
    const connect = async (path = '/graphql') => {
      const socket = new WebSocket(`${edge.url.replace('http', 'ws')}${path}`);
      await once(socket, 'open');
      return socket;
    };

    test('carries messages of any size and kind, both ways, and the query', async () => {
      const socket = await connect('/graphql?a=%20b');
      expect(seen.at(-1)!.url).toBe('/graphql?a=%20b');
      for (const message of [Buffer.alloc(0), Buffer.alloc(3_000_000, 7), Buffer.from('text')]) {
        socket.send(message);
        const [echo] = await once(socket, 'message');
        expect((echo as Buffer).equals(message)).toBe(true);
      }
      socket.close(4_001, 'why');
      expect((await once(socket, 'close'))[0]).toBe(4_001);
    });

    test("ends with the platform's close code, unchanged", async () => {
      const socket = await connect();
      for (const accepted of sockets.clients) accepted.close(4_403, 'Forbidden');
      const [code, reason] = await once(socket, 'close');
      expect([code, String(reason)]).toEqual([4_403, 'Forbidden']);
    });

    test('is cut on both sides when either breaks off', async () => {
      const left = await connect();
      const platformSide = [...sockets.clients].at(-1)!;
      left.terminate();
      await once(platformSide, 'close');
      const kept = await connect();
      ends.at(-1)!.resetAndDestroy();
      expect((await once(kept, 'close'))[0]).toBe(1006);
    });

    test("after a request that is still being answered is cut, and others aren't affected", async () => {
      const asked = seen.length;
      const both = requestText('GET /docs/first') + requestText('GET /graphql', HANDSHAKE);
      const { closed } = await exchange(edge.url, both, { halfClose: false });
      expect(closed).toBe(true);
      expect(seen.length).toBeLessThanOrEqual(asked + 1);
      expect((await fetch(`${edge.url}/health`)).status).toBe(200);
    });

    test('followed by anything before its answer is cut', async () => {
      const asked = seen.length;
      const both = requestText('GET /graphql', HANDSHAKE) + requestText('GET /smuggled');
      const { text, closed } = await exchange(edge.url, both, { halfClose: false });
      expect([text, closed]).toEqual(['', true]);
      expect(seen).toHaveLength(asked);
    });

    test("is refused with the platform's own answer", async () => {
      const asked = seen.length;
      const text = requestText('GET /graphql', [...HANDSHAKE, 'Origin: https://evil.example']);
      const {
        statuses,
        text: got,
        closed,
      } = await exchange(edge.url, text, {
        halfClose: false,
      });
      expect([statuses, closed]).toEqual([[403], true]);
      expect(got).toMatch(/\r\n\r\nno!$/);
      expect(seen).toHaveLength(asked + 1);
    });

    test("passes only the headers of the handshake and of the client's identity", async () => {
      const socket = open(edge.url);
      socket.write(
        requestText('GET /graphql', [
          ...HANDSHAKE,
          'Sec-WebSocket-Protocol: graphql-transport-ws, other',
          'Cookie: pr_session=t',
          'Authorization: Bearer jwt',
          'X-Forwarded-For: 6.6.6.6',
          'X-Other: 1',
          'Sec-WebSocket-Accept: forged',
        ]),
      );
      await once(socket, 'data');
      const { headers } = seen.at(-1)!;
      expect(headers).toMatchObject({
        cookie: 'pr_session=t',
        authorization: 'Bearer jwt',
        'sec-websocket-protocol': 'graphql-transport-ws, other',
        'x-forwarded-for': '127.0.0.1',
      });
      expect(Object.keys(headers)).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/x-other|accept$/)]),
      );
      socket.destroy();
    });

    test.each([
      ['another protocol', ['Connection: Upgrade', 'Upgrade: h2c'], ''],
      ['a WebSocket with a body', [...HANDSHAKE, 'Content-Length: 2'], '{}'],
    ])('is no upgrade at all: %s', async (_what, headers, body) => {
      const asked = seen.length;
      server.once('request', (_request, response) => response.end('ordinary'));
      const { statuses } = await exchange(edge.url, requestText('GET /graphql', headers, body), {
        halfClose: false,
        until: (text) => text.includes('ordinary'),
      });
      expect(statuses).toEqual([200]);
      expect(seen).toHaveLength(asked);
    });

    test("doesn't delay a shutdown", async () => {
      const platformUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const other = await startTestEdge(suite.db, { upstreamUrl: upstream.url, platformUrl });
      const socket = new WebSocket(`${other.url.replace('http', 'ws')}/graphql`);
      await once(socket, 'open');
      const time = ownTime();
      const started = time.now();
      const gone = once(socket, 'close');
      await other.close();
      await gone;
      const tookMs = time.now() - started;
      time.stop();
      expect(tookMs).toBeLessThan(1_500);
    });
  });

  describe('of an unknown path', () => {
    let edge: TestEdge;
    beforeAll(async () => {
      edge = await startTestEdge(suite.db, { upstreamUrl: upstream.url, platformUrl: suite.url });
    });
    afterAll(() => edge.close());

    test.each(['/nothing', '/api/plans/x', '/v1/realtime', '/'])('is answered in HTTP: %s', async (path) => {
      const { statuses, closed, text } = await exchange(edge.url, requestText(`GET ${path}`, HANDSHAKE), {
        halfClose: false,
      });
      const status = { '/v1/realtime': 401, '/': 200 }[path] ?? 404;
      expect([statuses, closed]).toEqual([[status], true]);
      if (status === 404) expect(text).toContain('"code":"not_found"');
    });
  });

  test('is a 502 without an address while the platform is away', async () => {
    const lonely = await startTestEdge(suite.db, {
      upstreamUrl: upstream.url,
      platformUrl: 'http://127.0.0.1:9',
    });
    try {
      const { statuses, closed, text } = await exchange(lonely.url, requestText('GET /graphql', HANDSHAKE), {
        halfClose: false,
      });
      expect([statuses, closed]).toEqual([[502], true]);
      expect(text).toContain('"code":"platform_unavailable"');
      expect(text).not.toMatch(/127\.0\.0\.1|ECONN/);
    } finally {
      await lonely.close();
    }
  });

  test('is dropped when its client leaves before the platform answers', async () => {
    const silent = createServer();
    const arrived: Socket[] = [];
    silent.on('upgrade', (_request, socket: Socket) => arrived.push(socket));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const platformUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const edge = await startTestEdge(suite.db, { upstreamUrl: upstream.url, platformUrl });
    const socket = open(edge.url);
    try {
      socket.write(requestText('GET /graphql', HANDSHAKE));
      await until(() => arrived.length === 1);
      const gone = once(arrived[0]!.resume(), 'end');
      socket.destroy();
      await gone;
    } finally {
      await edge.close();
      for (const end of arrived) end.destroy();
      silent.close();
    }
  });
});
