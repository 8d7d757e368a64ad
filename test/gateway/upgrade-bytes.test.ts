import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestEdge, type TestEdge } from '../support/edge.js';
import { ownTime } from '../support/own-time.js';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';
import { until } from '../support/until.js';

describe('a WebSocket through the edge', () => {
  let db: TestDatabase;
  let upstream: ScriptedUpstream;
  let platform: Server;
  let sockets: WebSocketServer;
  let edge: TestEdge;
  let url: string;
  /** The platform's ends. */
  const served: WebSocket[] = [];

  beforeAll(async () => {
    db = await createTestDatabase();
    upstream = await startScriptedUpstream();
    platform = createServer((_request, response) => response.end('plain'));
    sockets = new WebSocketServer({ noServer: true });
    platform.on('upgrade', (request, socket: Socket, head) => {
      if (request.url === '/refused') {
        const body = '{"error":{"code":"cross_site_request"}}';
        socket.end(
          `HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\nX-Request-Id: r1\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
        );
      } else if (request.url === '/silent') {
        socket.destroy();
      } else {
        sockets.handleUpgrade(request, socket, head, (ws) => {
          served.push(ws);
          ws.on('message', (data, binary) => ws.send(data, { binary }));
        });
      }
    });
    platform.listen(0, '127.0.0.1');
    await once(platform, 'listening');
    edge = await startEdge();
    url = edge.url.replace('http', 'ws');
  });
  afterAll(async () => {
    for (const socket of served) socket.terminate();
    await edge.close();
    platform.closeAllConnections();
    platform.close();
    await upstream.close();
    await db.close();
  });

  const startEdge = (): Promise<TestEdge> =>
    startTestEdge(db, {
      upstreamUrl: upstream.url,
      platformUrl: `http://127.0.0.1:${(platform.address() as AddressInfo).port}`,
    });
  const open = async (at = `${url}/graphql`): Promise<{ client: WebSocket; server: WebSocket }> => {
    const before = served.length;
    const client = new WebSocket(at);
    await once(client, 'open');
    await until(() => served.length > before);
    return { client, server: served.at(-1)! };
  };
  /** What a refused upgrade was answered. */
  const refusal = (at: string): Promise<{ status: number; headers: Record<string, unknown>; body: string }> =>
    new Promise((resolve, reject) => {
      const client = new WebSocket(at);
      client.on('open', () => reject(new Error('it was let in')));
      client.on('error', () => undefined);
      client.on('unexpected-response', (_request, response) => {
        let body = '';
        response.on('data', (chunk) => (body += chunk));
        response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body }));
      });
    });

  test('carries frames of any size both ways, byte for byte, from the first frame on', async () => {
    const { client } = await open();
    for (const size of [0, 1, 125, 126, 65_535, 65_536, 3_000_000]) {
      const data = Buffer.alloc(size, size % 251);
      client.send(data);
      const [echo] = (await once(client, 'message')) as [Buffer];
      expect(Buffer.compare(echo, data)).toBe(0);
    }
    client.close();
  });

  test('carries close codes, close reasons and pings from end to end', async () => {
    const one = await open();
    one.server.ping('are you there');
    const [pong] = (await once(one.server, 'pong')) as [Buffer];
    expect(String(pong)).toBe('are you there');
    one.server.close(4403, 'The session has ended');
    const [code, reason] = (await once(one.client, 'close')) as [number, Buffer];
    expect([code, String(reason)]).toEqual([4403, 'The session has ended']);
    const other = await open();
    other.client.close(4999, 'enough');
    const [left, why] = (await once(other.server, 'close')) as [number, Buffer];
    expect([left, String(why)]).toEqual([4999, 'enough']);
  });

  test('is never compressed, whoever offers it', async () => {
    const { client } = await open();
    expect(client.extensions).toBe('');
    client.close();
  });

  test('a side that vanishes is disconnected at the other', async () => {
    const one = await open();
    one.client.terminate();
    const [code] = (await once(one.server, 'close')) as [number];
    expect(code).toBe(1006);
    const other = await open();
    other.server.terminate();
    await once(other.client, 'close');
  });

  test("a reader that takes nothing pauses its sender instead of filling the edge's memory", async () => {
    const { client, server } = await open();
    client.pause();
    const before = process.memoryUsage.rss();
    let sent = 0;
    for (; sent < 200; sent++) server.send(Buffer.alloc(2 ** 20));
    // The sender still has nearly all of it: it stopped at the buffers of the system.
    await until(() => server.bufferedAmount > 150 * 2 ** 20);
    expect(server.bufferedAmount).toBeGreaterThan(150 * 2 ** 20);
    // What the sender keeps in this very process counts as well.
    expect(process.memoryUsage.rss() - before).toBeLessThan(330 * 2 ** 20);
    server.terminate();
    client.terminate();
  });

  test("a refused upgrade gets the platform's answer", async () => {
    const { status, headers, body } = await refusal(`${url}/refused`);
    expect([status, body]).toEqual([403, '{"error":{"code":"cross_site_request"}}']);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-request-id': 'r1',
      connection: 'close',
    });
  });

  test('a platform that is away, or hangs up, causes a 502 without an address', async () => {
    const lonely = await startTestEdge(db, { upstreamUrl: upstream.url, platformUrl: 'http://127.0.0.1:9' });
    try {
      for (const at of [`${lonely.url.replace('http', 'ws')}/graphql`, `${url}/silent`]) {
        const { status, body } = await refusal(at);
        expect([status, (JSON.parse(body) as { error: { code: string } }).error.code]).toEqual([
          502,
          'platform_unavailable',
        ]);
        expect(body).not.toMatch(/127\.0\.0\.1|ECONN/);
      }
    } finally {
      await lonely.close();
    }
  });

  test.each([
    ['a method with a body', 'POST /graphql', 'websocket'],
    ['another protocol', 'GET /graphql', 'h2c'],
  ])('%s is no upgrade: the request passes unchanged', async (_what, line, protocol) => {
    const { port, hostname } = new URL(edge.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `${line} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: ${protocol}\r\nContent-Length: 2\r\n\r\n{}`,
    );
    let text = '';
    socket.on('data', (chunk) => (text += chunk));
    await once(socket, 'end');
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text).toContain('plain');
  });

  test("forwarded headers don't pass, nor do the caller's extensions of the handshake", async () => {
    const client = new WebSocket(`${url}/graphql?x=%20y`, {
      headers: {
        'x-forwarded-for': '6.6.6.6',
        'x-real-ip': '6.6.6.6',
        forwarded: 'for=6.6.6.6',
        te: 'trailers',
      },
    });
    const seen = once(platform, 'upgrade') as Promise<[{ url: string; headers: Record<string, string> }]>;
    await once(client, 'open');
    const [{ url: asked, headers }] = await seen;
    expect(asked).toBe('/graphql?x=%20y');
    expect(headers['x-forwarded-for']).toBe('127.0.0.1');
    expect(JSON.stringify(headers)).not.toMatch(/6\.6\.6\.6|trailers|permessage/);
    client.close();
  });

  test("a stopping edge cuts open WebSockets and isn't delayed by them", async () => {
    const stopping = await startEdge();
    const { client } = await open(`${stopping.url.replace('http', 'ws')}/graphql`);
    const time = ownTime();
    const began = time.now();
    const closed = once(client, 'close');
    await stopping.close();
    const tookMs = time.now() - began;
    time.stop();
    expect(tookMs).toBeLessThan(2_500);
    const [code] = (await closed) as [number];
    expect(code).toBe(1006);
  });
});
