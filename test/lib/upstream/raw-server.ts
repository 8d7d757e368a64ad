import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { UpstreamClient, type UpstreamClientOptions } from '../../../src/lib/upstream/client.js';
import { Heard } from '../../support/heard.js';

export const OK = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok';
export const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

/** A server of raw bytes: records the bytes of each connection, and answers as the test defines. */
export class RawServer {
  readonly sockets: Socket[] = [];
  readonly received: string[] = [];
  readonly clients: UpstreamClient[] = [];
  address = '';
  /** Called whenever a connection has sent bytes. */
  onBytes: (socket: Socket, at: number) => void = (socket) => socket.write(OK, 'latin1');

  constructor(
    private readonly server: Server = createServer(),
    event = 'connection',
  ) {
    server.on(event, (socket: Socket) => {
      const at = this.sockets.push(socket) - 1;
      this.received[at] = '';
      socket.on('error', () => undefined);
      socket.on('data', (bytes) => {
        this.received[at] += bytes.toString('latin1');
        this.onBytes(socket, at);
      });
    });
  }

  /** Number of requests per connection. */
  get requests(): number[] {
    return this.received.map((text) => text.split('POST').length - 1);
  }

  async listen(): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    this.address = `127.0.0.1:${(this.server.address() as { port: number }).port}`;
  }

  /** A client, which is closed with the server. */
  client(options: Partial<UpstreamClientOptions> = {}): UpstreamClient {
    const url = new URL(`http://${this.address}/base`);
    const client = new UpstreamClient({ url, connectTimeoutMs: 5_000, ...options });
    this.clients.push(client);
    return client;
  }

  async close(): Promise<void> {
    for (const client of this.clients) client.destroy();
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }
}

export function post<H extends Heard>(client: UpstreamClient, handler: H, body = '{}'): H {
  handler.handle = client.post('/v1/x', { 'x-a': '1' }, Buffer.from(body), handler).send();
  return handler;
}

/** Makes a call and waits for its end. */
export const call = (client: UpstreamClient, body?: string): Promise<Heard> =>
  post(client, new Heard(), body).done();

/** The record of a complete call. */
export const whole = (body: string) => ({ text: body, ends: 1, errors: [] });

/** The record of a failed call, whose error contains these words. */
export const failure = (words: string) => ({
  ends: 0,
  errors: [expect.objectContaining({ message: expect.stringContaining(words) })],
});
