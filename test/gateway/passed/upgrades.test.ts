import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { WebSocketServer } from 'ws';
import { HANDSHAKE, open, requestText } from '../../hostile/raw.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { startTestEdge, type TestEdge } from '../../support/edge.js';
import { noteEnds, serverEnds } from '../../support/own-sockets.js';
import { until } from '../../support/until.js';

/** Longer than a busy machine takes between two steps of a test. */
const STALLED_MS = 1_500;
const PAGE = Buffer.alloc(8_000_000, 'x');

/** Bounds on upgrades: whatever a client leaves undone, neither end stays. */
describe('an upgrade', () => {
  let db: TestDatabase;
  let platform: Server;
  let edge: TestEdge;
  const accepted = new WebSocketServer({ noServer: true });
  const ends: Socket[] = [];
  beforeAll(async () => {
    db = await createTestDatabase();
    platform = createServer();
    platform.on('upgrade', (request, socket: Socket, head) => {
      ends.push(socket);
      socket.on('error', () => undefined);
      if (request.url === '/page') {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${PAGE.length}\r\n\r\n`);
        socket.end(PAGE);
      } else if (request.url === '/silent') {
        socket.resume().on('end', () => socket.end());
      } else {
        accepted.handleUpgrade(request, socket, head, (ws) => accepted.emit('connection', ws));
      }
    });
    platform.listen(0, '127.0.0.1');
    await once(platform, 'listening');
    edge = await startTestEdge(db, {
      upstreamUrl: 'http://127.0.0.1:9',
      platformUrl: `http://127.0.0.1:${(platform.address() as AddressInfo).port}`,
      bounds: {
        upgradeTimeoutMs: 1_000,
        stalledReaderMs: STALLED_MS,
        lingerMs: 100,
        lingerTotalMs: 200,
        checkIntervalMs: 30,
        passedPerClient: 4,
      },
    });
  });
  afterAll(async () => {
    for (const end of ends) end.destroy();
    await edge?.close();
    platform?.close();
    await db?.close();
  });

  /** A client that never ends by itself, nor reads. */
  async function ask(path: string): Promise<Socket> {
    const { hostname, port } = new URL(edge.url);
    const socket = noteEnds(connect({ host: hostname, port: Number(port), allowHalfOpen: true }));
    socket.on('error', () => undefined);
    socket.pause();
    const before = ends.length;
    socket.write(requestText(`GET ${path}`, HANDSHAKE));
    await until(() => ends.length > before);
    return socket;
  }
  const gone = async (socket: Socket): Promise<void> => {
    const end = ends.at(-1)!;
    await until(() => serverEnds([socket]) === 0, { what: "the client's end to be cut" });
    await until(() => end.resume().destroyed, { what: "the platform's end to be cut" });
    socket.destroy();
  };

  test('that the platform never answers is cut on both sides', async () => {
    await gone(await ask('/silent'));
  });

  test('that is answered with a page which nobody reads is cut, and the platform was free at once', async () => {
    const socket = await ask('/page');
    await until(() => ends.at(-1)!.writableFinished, { what: 'the edge to have taken the page' });
    expect(serverEnds([socket])).toBe(1);
    await gone(socket);
  });

  test('that is answered with a page gives all of it to a reader', async () => {
    const socket = open(edge.url);
    let bytes = 0;
    socket.on('data', (chunk) => (bytes += chunk.length));
    socket.write(requestText('GET /page', HANDSHAKE));
    await once(socket, 'close');
    expect(bytes).toBeGreaterThan(PAGE.length);
  });

  test('that is open, and that the platform ends, is cut', async () => {
    const socket = await ask('/graphql');
    await until(() => accepted.clients.size === 1);
    for (const ws of accepted.clients) ws.terminate();
    await gone(socket);
  });

  test('that is open and takes nothing of what is sent is cut', async () => {
    const socket = await ask('/graphql');
    const [ws] = await until(() => (accepted.clients.size === 1 ? [...accepted.clients] : undefined));
    for (let i = 0; i < 16; i++) ws!.send(PAGE);
    await gone(socket);
  });

  test('counts while it is asked for, and no longer', async () => {
    const sockets = await Promise.all(Array.from({ length: 4 }, () => ask('/graphql')));
    await until(() => accepted.clients.size === 4);
    sockets.push(await ask('/graphql'));
    await until(() => accepted.clients.size === 5);
    for (const socket of sockets) socket.destroy();
    const before = ends.length;
    const silent = await Promise.all(Array.from({ length: 4 }, () => ask('/silent')));
    await until(() => ends.length === before + 4);
    expect((await fetch(`${edge.url}/more`)).status).toBe(429);
    for (const socket of silent) socket.destroy();
  });
});
