import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { WebSocket, WebSocketServer } from 'ws';
import { exchange, HANDSHAKE, requestText } from '../hostile/raw.js';
import { selfSigned } from '../support/certificate.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startTestEdge, type TestEdge } from '../support/edge.js';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';

describe('a request to the platform', () => {
  const pair = selfSigned('localhost');
  const authorities = getCACertificates();
  let db: TestDatabase;
  let upstream: ScriptedUpstream;
  const seen: IncomingMessage[] = [];
  const servers: Server[] = [];
  const sockets = new WebSocketServer({ noServer: true });
  const edges: TestEdge[] = [];
  let edge: TestEdge;

  /** An edge in front of a platform at that host. */
  async function startBoth(platform: Server, protocol: string): Promise<TestEdge> {
    servers.push(platform);
    platform.on('request', (request: IncomingMessage, response) => {
      seen.push(request);
      response.end(`got ${request.url}`);
    });
    platform.on('upgrade', (request, socket, head) =>
      sockets.handleUpgrade(request, socket, head, (client) => client.send('hello')),
    );
    platform.listen(0, '127.0.0.1');
    await once(platform, 'listening');
    const { port } = platform.address() as AddressInfo;
    const platformUrl = `${protocol}://localhost:${port}`;
    const started = await startTestEdge(db, { upstreamUrl: upstream.url, platformUrl });
    edges.push(started);
    return started;
  }

  beforeAll(async () => {
    db = await createTestDatabase();
    upstream = await startScriptedUpstream();
    edge = await startBoth(createServer(), 'http');
  });
  afterAll(async () => {
    for (const one of edges) await one.close();
    for (const client of sockets.clients) client.terminate();
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
    await upstream.close();
    await db.close();
  });

  const ask = (line: string, headers: string[] = [], body = '') =>
    exchange(edge.url, requestText(line, ['Connection: close', ...headers], body), { halfClose: false });

  test.each([
    ['/a/%2e/b/./c?x=/../y', '/a/b/c?x=/../y'],
    ['/a\\b', '/a/b'],
    ['/a%2Fb?', '/a%2Fb?'],
    ['/a?b?c', '/a?b?c'],
    ['/', '/'],
  ])('is made for %s if the client sends %s', async (asked, url) => {
    const { statuses } = await ask(`GET ${asked}`);
    expect([statuses, seen.at(-1)!.url]).toEqual([[200], url]);
  });

  test.each([
    '/a/../b',
    '/a/%2e%2e/b',
    '/a%2f..%2fb',
    '/..',
    '//x.test/a',
    '/\\x.test/a',
    '/a\\..\\b',
    '/a/..b',
  ])('gets 400 if its path has .. segments, or could be read as a host: %s', async (path) => {
    const before = seen.length;
    const { statuses, text } = await ask(`GET ${path}`);
    expect(statuses).toEqual([400]);
    expect(text).toContain('"code":"invalid_request"');
    expect(seen).toHaveLength(before);
    const refused = await exchange(edge.url, requestText(`GET ${path}`, HANDSHAKE), { halfClose: false });
    expect(refused.statuses).toEqual([400]);
  });

  test('drops the body of a GET and the headers that Connection lists', async () => {
    const { statuses } = await ask('GET /a', ['Content-Length: 3', 'X-Gone: 1', 'Connection: x-gone'], 'abc');
    expect(statuses).toEqual([200]);
    expect(seen.at(-1)!.headers).not.toMatchObject({ 'content-length': expect.anything() });
    expect(seen.at(-1)!.headers).not.toHaveProperty('x-gone');
    expect(seen.at(-1)!.headers.connection).not.toContain('x-gone');
  });

  test.each(['TRACE', 'PROPFIND', 'REPORT'])("isn't made for the method %s", async (method) => {
    const before = seen.length;
    const { statuses } = await ask(`${method} /a`);
    expect([statuses, seen.length]).toEqual([[404], before]);
  });

  test('over https is sent only to a platform with a trusted certificate', async () => {
    const secure = await startBoth(createTlsServer(pair), 'https');
    const open = (): Promise<string> =>
      new Promise((resolve) => {
        const socket = new WebSocket(`${secure.url.replace('http', 'ws')}/graphql`);
        socket.on('message', (data) => resolve(String(data)));
        socket.on('error', ({ message }) => resolve(message));
      });
    expect((await fetch(`${secure.url}/a`)).status).toBe(502);
    expect(await open()).toContain('502');
    setDefaultCACertificates([pair.cert]);
    try {
      expect(await (await fetch(`${secure.url}/a`)).text()).toBe('got /a');
      expect(await open()).toBe('hello');
    } finally {
      setDefaultCACertificates(authorities);
    }
  });
});
