import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Server, Socket, createServer as tcpServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { graceTimeout } from '../../src/lib/grace-timeout.js';
import { idleCloser } from '../../src/lib/lifecycle.js';
import { standStill } from '../support/stand-still.js';

async function connectTo(server: Server): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').setNoDelay();
  await once(socket, 'connect');
  return socket;
}

describe('after a standstill', () => {
  const sockets: Socket[] = [];
  let server: Server;
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    server.close();
  });

  async function pair(): Promise<[Socket, Socket]> {
    server = tcpServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const accepted = once(server, 'connection');
    const caller = await connectTo(server);
    const [taken] = (await accepted) as [Socket];
    sockets.push(caller, taken);
    return [caller, taken];
  }

  test('a timeout accepts input that arrived in time', async () => {
    const [caller, taken] = await pair();
    const seen: string[] = [];
    const endLimit = graceTimeout(20, () => seen.push('over'));
    taken.once('data', () => {
      seen.push('data');
      endLimit();
    });
    caller.write('x');
    standStill(100);
    await delay(100);
    expect(seen).toEqual(['data']);
  });

  test('a timeout ends without input, and not early', async () => {
    await pair();
    const began = performance.now();
    await new Promise<void>((resolve) => graceTimeout(50, resolve));
    // Node's timers count whole milliseconds.
    expect(performance.now() - began).toBeGreaterThanOrEqual(49);
  });

  test('a closing server answers a request that arrived before its connection was idle for long enough', async () => {
    const http = createServer((_request: IncomingMessage, response: ServerResponse) =>
      response.end('answer'),
    );
    server = http;
    const restMs = 1_000;
    const closing = idleCloser(http, { restMs });
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    const caller = await connectTo(http);
    sockets.push(caller);
    const all = text(caller);
    const ask = () => caller.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
    const answered = once(http, 'request');
    ask();
    await answered;
    const swept = Promise.withResolvers<void>();
    const sweep = http.closeIdleConnections;
    http.closeIdleConnections = () => {
      swept.resolve();
      sweep.call(http);
    };
    const closed = closing(() => new Promise<void>((resolve) => http.close(() => resolve())));
    await swept.promise;
    ask();
    standStill(restMs + 500);
    await closed;
    expect((await all).split('\r\n\r\nanswer')).toHaveLength(3);
  });
});
