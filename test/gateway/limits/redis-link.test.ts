import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { RedisLink } from '../../../src/inference/limits/shared/redis-link.js';
import { DOLLAR } from '../../../src/lib/money.js';
import { freePort } from '../../support/free-port.js';
import { Ledger, limitsEdge } from '../../support/limits.js';
import { describeWithRedis } from '../../support/redis.js';
import { redisServer } from '../../support/redis-server.js';
import { until } from '../../support/until.js';

/** Counts the whole commands sent over a connection. Each is an array of texts with their lengths. */
function commandsIn(bytes: Buffer): { commands: number; rest: Buffer } {
  let commands = 0;
  let rest = bytes;
  for (;;) {
    let at = rest.indexOf('\r\n');
    if (at < 0) return { commands, rest };
    const texts = Number(rest.toString('latin1', 1, at));
    at += 2;
    for (let i = 0; i < texts; i++) {
      const end = rest.indexOf('\r\n', at);
      if (end < 0) return { commands, rest };
      at = end + 2 + Number(rest.toString('latin1', at + 1, end)) + 2;
      if (at > rest.length) return { commands, rest };
    }
    commands++;
    rest = rest.subarray(at);
  }
}

describe('the connection to Redis', () => {
  let server: Server;
  let sockets: Socket[];
  let link: RedisLink | undefined;
  let ready: number;
  beforeEach(() => {
    sockets = [];
    ready = 0;
  });
  afterEach(async () => {
    await link?.stop();
    for (const socket of sockets) socket.destroy();
    await new Promise((done) => server.close(done));
  });

  /** A server that answers every command on its nth connection with `answerTo(n)`, or drops it when a command arrives. */
  async function serve(answerTo: (connection: number) => string | undefined): Promise<void> {
    server = createServer((socket) => {
      const answer = answerTo(sockets.push(socket));
      let held = Buffer.alloc(0);
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        const { commands, rest } = commandsIn(Buffer.concat([held, chunk]));
        held = Buffer.from(rest);
        if (answer === undefined) socket.resetAndDestroy();
        else socket.write(answer.repeat(commands));
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  }
  const open = (): RedisLink => {
    const { port } = server.address() as AddressInfo;
    link = new RedisLink({
      url: `redis://127.0.0.1:${port}`,
      onReady: () => void ready++,
      onUnusable: () => undefined,
      onLost: () => undefined,
    });
    return link;
  };

  test('the connection is opened again while the server loads its data and refuses every command', async () => {
    await serve((connection) =>
      connection === 1 ? '-LOADING Redis is loading the dataset in memory\r\n' : '+OK\r\n',
    );
    open();
    await until(() => ready === 1, { what: 'the scripts to be loaded' });
    expect(sockets).toHaveLength(2);
  });

  test('the connection is opened again if the server drops it at the first command', async () => {
    await serve((connection) => (connection <= 3 ? undefined : '+OK\r\n'));
    open();
    await until(() => ready === 1, { what: 'the scripts to be loaded' });
    expect(sockets).toHaveLength(4);
  });

  test('the connection comes back however often, and whenever, it is dropped', async () => {
    await serve(() => '+OK\r\n');
    const dropped = open();
    // Before, in and after the turns of the event loop in which the connection begins.
    for (let turn = 0; turn < 20; turn++) {
      dropped.reconnect();
      if (turn % 2 === 0) await new Promise((next) => setImmediate(next));
    }
    const before = ready;
    await until(() => ready > before, { what: 'a connection' });
  });
});

describeWithRedis('a node of a Redis Cluster', () => {
  test('a node of a cluster stops the start with one line', async () => {
    const port = String(await freePort());
    const node = await redisServer(['--cluster-enabled', 'yes', '--cluster-port', port]);
    await node.start();
    try {
      await expect(limitsEdge(new Ledger(DOLLAR), { redisUrl: node.url })).rejects.toThrow(
        /^REDIS_URL is a node of a Redis Cluster, which is not supported: .+$/,
      );
    } finally {
      await node.close();
    }
  });
});
