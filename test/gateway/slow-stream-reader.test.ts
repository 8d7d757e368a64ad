import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { V1Sink } from '../../src/gateway/v1-sink.js';
import type { CallInput } from '../../src/inference/call.js';

/** What the head of a stream says of its call. */
const INPUT = { id: '0198c0de-0000-7000-8000-000000000001', admission: {}, body: {} } as CallInput;
const BOUNDS = { stalledReaderMs: 60_000, minimumReadRate: undefined as never };
const EVENT = Buffer.from(`data: {"x":"${'x'.repeat(3_000)}"}\n\n`);
const LAST = Buffer.from('data: [DONE]\n\n');

describe('a stream in small events to a client that reads slowly', () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let server: Server;
  let url: string;
  /** Answers a request. */
  let serve: (sink: V1Sink) => void;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    server = createServer((_request, response) => {
      sockets.push(response.socket!);
      serve(new V1Sink(response, INPUT, BOUNDS));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    agent.destroy();
    server.close();
  });

  const ask = async (): Promise<IncomingMessage> => {
    const [answer] = (await once(get(url, { agent }), 'response')) as [IncomingMessage];
    return answer.pause();
  };

  test('a stream is held back until the client reads, comes whole, and leaves nothing on the connection', async () => {
    for (let call = 1; call <= 2; call++) {
      let sent = 0;
      let drained = 0;
      const closed = new Promise<void>((resolve) => {
        serve = (sink) => {
          sink.onClose(resolve);
          sink.onDrain(() => {
            expect(sink.full).toBe(false);
            if (++drained === 1) sink.endStream(LAST);
          });
          sink.startStream();
          for (; !sink.full; sent++) sink.send(EVENT);
        };
      });
      const answer = await ask();
      expect(sent).toBeGreaterThan(1);
      expect(drained).toBe(0);
      const parts: Buffer[] = [];
      for await (const part of answer) parts.push(part as Buffer);
      expect(Buffer.concat(parts).length).toBe(sent * EVENT.length + LAST.length);
      await closed;
      expect(drained).toBe(1);
    }
    const [first, second] = sockets;
    expect(second).toBe(first);
    // Node's own.
    expect(first!.listenerCount('drain')).toBe(1);
  });
});
