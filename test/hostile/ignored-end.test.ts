import { connect, type Socket } from 'node:net';
import { loadWebBuild } from '../../src/pages/web-build.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { createTestKey, startTestEdge } from '../support/edge.js';
import { noteEnds, serverEnds } from '../support/own-sockets.js';
import { startTestPlatform } from '../support/platform.js';
import { startTestProxy } from '../support/proxy.js';
import { until } from '../support/until.js';
import { requestText } from './raw.js';

const EACH = 4;
const BOUNDS = {
  headersTimeoutMs: 300,
  requestTimeoutMs: 600,
  // Node adds a second.
  keepAliveMs: 100,
  lingerMs: 200,
  lingerTotalMs: 400,
  stalledReaderMs: 400,
  checkIntervalMs: 50,
};
const UPGRADE = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];

interface Server {
  url: string;
  /** A request that is read to its end before it is answered. */
  reading: [line: string, headers: string[]];
  close(): Promise<unknown>;
}

/** The script of GraphiQL, the largest that a document names. */
const LARGE_ASSET = /\/assets\/graphql-playground-[^"]+\.js/.exec(
  loadWebBuild()!.page('graphql-playground', ''),
)![0];

/** What a client sends at first, and whether it goes on for ever behind it. */
type Attack = [text: string, goesOn: boolean];

const attacks = ({ reading: [line, headers] }: Server): Record<string, Attack> => ({
  'never sends a byte': ['', false],
  'stops in its headers': ['GET /health HTTP/1.1\r\nHost: x\r\nX: ', false],
  'sends headers byte by byte': ['GET /health HTTP/1.1\r\nHost: x\r\nX: ', true],
  'stops in its body': [requestText(line, [...headers, 'Content-Length: 1000000'], '{"'), false],
  'sends a body byte by byte': [requestText(line, [...headers, 'Content-Length: 1000000'], '{"'), true],
  'sends a body in chunks': [
    requestText(line, [...headers, 'Transfer-Encoding: chunked'], 'ffffff\r\n{"'),
    true,
  ],
  'is refused for its key and goes on': [
    requestText('POST /v1/chat/completions', ['Content-Length: 1000000'], '{"'),
    true,
  ],
  'is refused for its type and goes on': [
    requestText(line, ['Content-Type: text/x', 'Content-Length: 1000000'], '{"'),
    true,
  ],
  'is refused for its size and goes on': [
    requestText(line, [...headers, 'Content-Length: 999999999'], '{"'),
    true,
  ],
  'is refused, waits to be asked, and stops': [
    requestText('POST /v1/chat/completions', ['Content-Length: 1000', 'Expect: 100-continue']),
    false,
  ],
  'takes nothing of large answers': [requestText(`GET ${LARGE_ASSET}`).repeat(16), false],
  'has its answer and says nothing more': [requestText('GET /health'), false],
  'has its last answer and goes on': [requestText('GET /health', ['Connection: close']), true],
  'sends what is not HTTP and goes on': ['ceci n’est pas\r\n\r\n', true],
  'stops in an upgrade': [`GET /graphql HTTP/1.1\r\nHost: x\r\n${UPGRADE.join('\r\n')}\r\n`, false],
  'is refused an upgrade': [requestText('GET /graphql', UPGRADE), false],
  'upgrades where nothing is': [requestText('GET /nothing', UPGRADE), false],
  'upgrades with a body': [requestText('POST /graphql', [...UPGRADE, 'Content-Length: 1000'], '{'), true],
});

/** A server is free of a client within a bounded time, also when that ignores that the server has ended. */
describe.each(['the edge', 'the platform', 'the model proxy'])('%s gets rid of a client that', (name) => {
  let db: TestDatabase;
  let server: Server;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    db = await createTestDatabase();
    server = await start[name]!(db);
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await server?.close();
    await db?.close();
  });

  /** Never ends by itself, nor reads. */
  const attack = ([text, goesOn]: Attack): Socket[] =>
    Array.from({ length: EACH }, () => {
      const { hostname, port } = new URL(server.url);
      const socket = noteEnds(connect({ host: hostname, port: Number(port), allowHalfOpen: true }));
      socket.on('error', () => undefined);
      socket.pause();
      socket.write(text);
      const trickle = goesOn ? setInterval(() => socket.write('a'), 50) : undefined;
      socket.on('close', () => clearInterval(trickle));
      sockets.push(socket);
      return socket;
    });

  test('ignores the end of the connection, in any of these ways', async () => {
    const all = Object.entries(attacks(server)).map(([what, how]) => [what, attack(how)] as const);
    // The first may be cut before the last is there.
    await until(() => all.every(([, own]) => own.every(({ pending, destroyed }) => !pending || destroyed)));
    // A look reads every connection of the machine.
    await until(() => serverEnds(sockets) === 0, { timeoutMs: 20_000, intervalMs: 200 }).catch(
      () => undefined,
    );
    expect(all.filter(([, own]) => serverEnds(own) > 0).map(([what]) => what)).toEqual([]);
  }, 40_000);
});

const start: Record<string, (db: TestDatabase) => Promise<Server>> = {
  async 'the edge'(db) {
    const platform = await startTestPlatform(db);
    const edge = await startTestEdge(db, {
      upstreamUrl: 'http://127.0.0.1:9',
      platformUrl: platform.url,
      bounds: BOUNDS,
    });
    const { key } = await createTestKey(db);
    return {
      url: edge.url,
      reading: ['POST /v1/chat/completions', [`Authorization: Bearer ${key}`]],
      close: () => edge.close().then(() => platform.close()),
    };
  },
  async 'the platform'(db) {
    const { url, close } = await startTestPlatform(db, { bounds: BOUNDS });
    return { url, reading: ['POST /graphql', ['Content-Type: application/json']], close };
  },
  async 'the model proxy'(db) {
    const { url, masterKey, close } = await startTestProxy(db, { bounds: BOUNDS });
    const headers = [`Authorization: Bearer ${masterKey}`, 'Content-Type: application/json'];
    return { url, reading: ['POST /v1/chat/completions', headers], close };
  },
};
