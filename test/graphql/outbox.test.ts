import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { createOutbox } from '../../src/graphql/outbox.js';
import { MemoryPool } from '../../src/lib/memory-pool.js';
import { until } from '../support/until.js';

/** More than the system takes for a connection that nobody reads. */
const LARGE = 'x'.repeat(16 * 2 ** 20);

describe('large messages over WebSocket', () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  beforeAll(() => once(server, 'listening'));
  afterAll(() => server.close());

  const pool = new MemoryPool(3 * LARGE.length);
  /** A client that reads nothing, and what sends to it. */
  async function connect(owner: string) {
    const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const [[served]] = (await Promise.all([once(server, 'connection'), once(client, 'open')])) as [
      [WebSocket],
      unknown,
    ];
    client.pause();
    const take = (bytes: number) =>
      pool.takePart(owner, bytes, 1) ? () => pool.give(owner, bytes) : undefined;
    return { client, served, send: createOutbox(served, { take }) };
  }

  test('of one account leave room for others, whose connection is cut without it, and give it back once they are read', async () => {
    const first = await connect('one');
    const left = first.send(LARGE);
    expect(pool.used).toBe(LARGE.length);
    const second = await connect('one');
    await second.send(LARGE);
    await until(() => second.served.readyState === WebSocket.CLOSED, { what: 'the connection to be cut' });
    expect(pool.used).toBe(LARGE.length);
    const other = await connect('other');
    const gone = other.send(LARGE);
    expect(pool.used).toBe(2 * LARGE.length);
    other.client.terminate();
    first.client.resume();
    await Promise.all([left, gone]);
    expect(pool.used).toBe(0);
    first.client.close();
  });

  test('are counted from a megabyte on', async () => {
    const { client, send } = await connect('one');
    void send('x'.repeat(2 ** 20));
    expect(pool.used).toBe(0);
    client.close();
  });
});
