import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { createOutbox } from '../../src/graphql/outbox.js';
import { ReaderMemory } from '../../src/lib/fair/reader-memory.js';
import { until } from '../support/until.js';

/** More than the system buffers for a client that doesn't read. */
const LARGE = 'x'.repeat(16 * 2 ** 20);

describe('large messages over WebSocket', () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  beforeAll(() => once(server, 'listening'));
  const clients: WebSocket[] = [];
  afterAll(() => {
    // Those that read nothing don't notice an end.
    for (const client of clients) client.terminate();
    server.close();
  });

  const memory = new ReaderMemory(3 * LARGE.length);
  /** A client that reads nothing, and what sends to it. */
  async function connect(accountId: string) {
    const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const [[served]] = (await Promise.all([once(server, 'connection'), once(client, 'open')])) as [
      [WebSocket],
      unknown,
    ];
    clients.push(client);
    client.pause();
    const send = createOutbox(served, (bytes) => memory.take({ accountId, network: '127.0.0.1' }, bytes));
    return { client, served, send };
  }

  test('of one account leave room for others; a connection without room is cut, and the memory is freed once they are read', async () => {
    const first = await connect('one');
    const left = first.send(LARGE);
    expect(memory.used).toBe(LARGE.length);
    const second = await connect('one');
    await second.send(LARGE);
    await until(() => second.served.readyState === WebSocket.CLOSED, { what: 'the connection to be cut' });
    expect(memory.used).toBe(LARGE.length);
    const other = await connect('other');
    const gone = other.send(LARGE);
    expect(memory.used).toBe(2 * LARGE.length);
    other.client.terminate();
    first.client.resume();
    await Promise.all([left, gone]);
    expect(memory.used).toBe(0);
  });

  test('are counted from a megabyte on', async () => {
    const { send } = await connect('one');
    void send('x'.repeat(2 ** 20));
    expect(memory.used).toBe(0);
  });
});
