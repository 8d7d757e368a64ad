import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { createLogger } from '../../src/lib/logger.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { errorOf, startTestEdge, type TestEdge } from '../support/edge.js';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';

describe('a request that the edge does not serve', () => {
  let db: TestDatabase;
  let upstream: ScriptedUpstream;
  let platform: Server;
  let sockets: WebSocketServer;
  let edge: TestEdge;
  const seen: IncomingMessage[] = [];

  beforeAll(async () => {
    db = await createTestDatabase();
    upstream = await startScriptedUpstream();
    platform = createServer(async (request, response) => {
      seen.push(request);
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      response.writeHead(207, {
        'content-type': 'text/plain',
        'set-cookie': ['a=1', 'b=2'],
        'x-own': 'kept',
      });
      response.end(Buffer.concat(chunks));
    });
    sockets = new WebSocketServer({ server: platform, handleProtocols: () => 'graphql-transport-ws' });
    sockets.on('connection', (socket, request) => {
      seen.push(request);
      socket.on('message', (data) => socket.send(`echo ${data}`));
    });
    platform.listen(0, '127.0.0.1');
    await once(platform, 'listening');
    edge = await startTestEdge(db, {
      upstreamUrl: upstream.url,
      platformUrl: `http://127.0.0.1:${(platform.address() as AddressInfo).port}`,
    });
  });
  afterAll(async () => {
    await edge.close();
    sockets.close();
    platform.closeAllConnections();
    platform.close();
    await upstream.close();
    await db.close();
  });

  test('passes to the platform and back unchanged', async () => {
    const response = await fetch(`${edge.url}/api/some/path%2Fwith?query=1&x=%20`, {
      method: 'PATCH',
      headers: {
        'content-type': 'application/x-odd',
        cookie: 'pr_session=t',
        authorization: 'Bearer jwt',
        'content-length': '5',
      },
      body: 'h\u0000llo',
    });
    expect(response.status).toBe(207);
    expect(await response.text()).toBe('h\u0000llo');
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(response.headers.get('x-own')).toBe('kept');
    const request = seen.at(-1)!;
    expect(request.method).toBe('PATCH');
    expect(request.url).toBe('/api/some/path%2Fwith?query=1&x=%20');
    expect(request.headers).toMatchObject({
      cookie: 'pr_session=t',
      authorization: 'Bearer jwt',
      'content-type': 'application/x-odd',
    });
  });

  test.each(['text/plain', 'application/json', 'application/x-odd', 'multipart/form-data; boundary=x'])(
    'passes a body of type %s unread',
    async (type) => {
      const body = 'no JSON: '.padEnd(200_000, 'x');
      const response = await fetch(`${edge.url}/api/x`, {
        method: 'POST',
        headers: { 'content-type': type },
        body,
      });
      expect(response.status).toBe(207);
      expect(await response.text()).toBe(body);
    },
  );

  test('carries forwarded headers that only the edge sets', async () => {
    await fetch(`${edge.url}/api/x`, {
      headers: {
        'x-forwarded-for': '6.6.6.6',
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'https',
        'x-forwarded-port': '1',
        'x-real-ip': '6.6.6.6',
        forwarded: 'for=6.6.6.6',
        via: 'x',
        'true-client-ip': '6.6.6.6',
      },
    });
    const { headers } = seen.at(-1)!;
    expect(JSON.stringify(headers)).not.toContain('6.6.6.6');
    expect(headers['x-forwarded-for']).toBe('127.0.0.1');
    expect(headers['x-forwarded-proto']).toBe('http');
    expect(headers['x-forwarded-host']).toBe(new URL(edge.url).host);
    expect(headers).not.toHaveProperty('x-forwarded-port');
  });

  test('upgrades to a WebSocket with Origin and cookie', async () => {
    const socket = new WebSocket(`${edge.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
      headers: { origin: 'https://site.example', cookie: 'pr_session=t', 'x-forwarded-for': '6.6.6.6' },
    });
    await once(socket, 'open');
    socket.send('hello');
    const [message] = await once(socket, 'message');
    expect(String(message)).toBe('echo hello');
    expect(seen.at(-1)!.headers).toMatchObject({
      origin: 'https://site.example',
      cookie: 'pr_session=t',
      'x-forwarded-for': '127.0.0.1',
    });
    expect(socket.protocol).toBe('graphql-transport-ws');
    socket.close();
    await once(socket, 'close');
  });

  test("gets a 502 in the API's format, without an address, while the platform is away; /v1 and /health are still served", async () => {
    const log = createLogger('edge', 'silent');
    const warnings: string[] = [];
    log.warn = (...args: unknown[]) => void warnings.push(String(args.at(-1)));
    const away = { upstreamUrl: upstream.url, platformUrl: 'http://127.0.0.1:9', log };
    const lonely = await startTestEdge(db, away);
    try {
      const response = await fetch(`${lonely.url}/api/x`);
      expect(response.status).toBe(502);
      const text = await response.clone().text();
      expect(text).not.toContain('127.0.0.1');
      expect((await errorOf(response)).code).toBe('platform_unavailable');
      expect(await (await fetch(`${lonely.url}/health`)).json()).toMatchObject({ status: 'ok' });
      expect((await fetch(`${lonely.url}/v1/models`)).status).toBe(401);
      // Strangers make as many requests as they like: one line tells of all.
      for (let i = 0; i < 5; i++) expect((await fetch(`${lonely.url}/login`)).status).toBe(502);
      expect(warnings.filter((line) => line.includes('the platform'))).toEqual([
        'the platform does not respond',
      ]);
    } finally {
      await lonely.close();
    }
  });
});
