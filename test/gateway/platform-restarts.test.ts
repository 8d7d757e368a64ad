import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket, WebSocketServer } from 'ws';
import { signUp } from '../support/api.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { createTestKey, startTestEdge, type TestEdge } from '../support/edge.js';
import { freePort } from '../support/free-port.js';
import { startTestPlatform, type TestPlatform } from '../support/platform.js';
import { chat, startScriptedUpstream } from '../support/scripted-upstream.js';

/** Less than the three seconds for which a request waits. */
const AWAY_MS = 700;

describe('a platform that restarts', () => {
  let db: TestDatabase;
  let edge: TestEdge;
  const servers: Server[] = [];
  const platforms: TestPlatform[] = [];

  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterEach(async () => {
    await edge.close();
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
    for (const platform of platforms.splice(0)) await platform.close();
  });
  afterAll(() => db.close());

  const startEdge = async (urls: string[], upstreamUrl = 'http://127.0.0.1:9') => {
    edge = await startTestEdge(db, { upstreamUrl, platformUrl: urls.join(',') });
  };
  async function listen(
    answer: (request: IncomingMessage, response: ServerResponse) => void,
    port = 0,
  ): Promise<Server> {
    const server = createServer((request, response) => {
      request.resume().on('end', () => answer(request, response));
    });
    servers.push(server);
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  }
  const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const post = () => fetch(`${edge.url}/api/x`, { method: 'POST', body: '{}' });

  test('loses no request that it refuses for less than 3 s, whatever its method, nor an upgrade', async () => {
    const port = await freePort();
    await startEdge([`http://127.0.0.1:${port}`]);
    const calls = Promise.all(Array.from({ length: 20 }, post));
    const socket = new WebSocket(`${edge.url.replace('http', 'ws')}/graphql`);
    const opened = once(socket, 'open');
    expect(await Promise.race([calls, opened, delay(AWAY_MS, 'waiting')])).toBe('waiting');
    const server = await listen((_request, response) => response.end('here'), port);
    new WebSocketServer({ server, path: '/graphql' });
    expect((await calls).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    await opened;
    socket.terminate();
  });

  test('is stood in for by the others of PLATFORM_URL, which share the requests', async () => {
    const names: string[] = [];
    const named = (name: string) => (_request: IncomingMessage, response: ServerResponse) => {
      names.push(name);
      response.end(name);
    };
    const [one, two] = [await listen(named('one')), await listen(named('two'))];
    await startEdge([urlOf(one), urlOf(two)]);
    await Promise.all(Array.from({ length: 20 }, post));
    expect(new Set(names)).toEqual(new Set(['one', 'two']));
    one.closeAllConnections();
    one.close();
    await once(one, 'close');
    names.length = 0;
    const began = performance.now();
    for (let n = 0; n < 20; n++) expect((await post()).status).toBe(200);
    expect(new Set(names)).toEqual(new Set(['two']));
    expect(performance.now() - began).toBeLessThan(3_000);
  });

  test('a request whose connection breaks is sent once more if that changes nothing, else never', async () => {
    const seen: string[] = [];
    const broken = await listen((request, response) => {
      seen.push(request.method!);
      if (seen.length % 2 === 1) response.socket!.resetAndDestroy();
      else response.end('here');
    });
    await startEdge([urlOf(broken)]);
    expect((await fetch(`${edge.url}/api/x`)).status).toBe(200);
    expect(seen).toEqual(['GET', 'GET']);
    expect((await post()).status).toBe(502);
    expect(seen).toEqual(['GET', 'GET', 'POST']);
  });

  test('two real platforms that restart one after the other lose no request', async () => {
    const ports = [await freePort(), await freePort()];
    const start = (port: number) => startTestPlatform(db, { port, bounds: { restMs: 2_000 } });
    for (const port of ports) platforms.push(await start(port));
    await startEdge(ports.map((port) => `http://127.0.0.1:${port}`));
    const { token } = await signUp(edge.url);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const statuses: Record<string, number> = {};
    let going = true;
    const work = async (n: number) => {
      for (; going; await delay(n)) {
        const init = n % 2 === 0 ? { headers } : { method: 'POST', headers, body: '{}' };
        const path = n % 2 === 0 ? '/api/auth/me' : '/api/migrate/estimate';
        const { status } = await fetch(edge.url + path, init);
        const name = `${path} ${status}`;
        statuses[name] = (statuses[name] ?? 0) + 1;
      }
    };
    const workers = Array.from({ length: 6 }, (_, n) => work(40 + n));
    for (const [n, port] of ports.entries()) {
      await platforms[n]!.close();
      platforms[n] = await start(port);
    }
    going = false;
    await Promise.all(workers);
    expect(Object.keys(statuses).toSorted()).toEqual(['/api/auth/me 200', '/api/migrate/estimate 422']);
  });

  test('a model proxy at UPSTREAM_URL that restarts loses no call', async () => {
    const port = await freePort();
    await startEdge(['http://127.0.0.1:9'], `http://127.0.0.1:${port}`);
    const { key } = await createTestKey(db);
    const body = { model: 'gateway/fast', messages: [{ role: 'user', content: 'x' }] };
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const called = fetch(`${edge.url}/v1/chat/completions`, init);
    expect(await Promise.race([called, delay(AWAY_MS, 'waiting')])).toBe('waiting');
    const proxy = await startScriptedUpstream(port);
    proxy.answer(chat());
    expect((await called).status).toBe(200);
    await proxy.close();
  });
});
