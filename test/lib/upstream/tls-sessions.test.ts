import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import {
  createServer,
  getCACertificates,
  type Server,
  setDefaultCACertificates,
  type TLSSocket,
} from 'node:tls';
import { UpstreamClient } from '../../../src/lib/upstream/client.js';
import { selfSigned } from '../../support/certificate.js';

const ANSWER = 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok';
const PATIENCE = { headersTimeoutMs: 5_000, bodyTimeoutMs: 5_000 };

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('connections over %s to one upstream', (version) => {
  const pair = selfSigned('localhost');
  const authorities = getCACertificates();
  let server: Server;
  let client: UpstreamClient;
  /** Of each connection, whether it went on with a session of an earlier one. */
  let resumed: boolean[];
  let open: Set<TLSSocket>;

  async function listen(): Promise<void> {
    resumed = [];
    open = new Set();
    server = createServer({ ...pair, minVersion: version, maxVersion: version });
    server.on('tlsClientError', () => undefined);
    server.on('secureConnection', (socket) => {
      resumed.push(socket.isSessionReused());
      open.add(socket);
      socket.on('error', () => undefined).on('close', () => open.delete(socket));
      socket.once('data', () => socket.end(ANSWER));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    client = new UpstreamClient({ url: new URL(`https://localhost:${port}`), connectTimeoutMs: 5_000 });
  }
  afterEach(async () => {
    client.destroy();
    for (const socket of open) socket.destroy();
    server.close();
    await once(server, 'close');
    setDefaultCACertificates(authorities);
  });
  const trust = (): void => setDefaultCACertificates([pair.cert]);
  const call = (): Promise<string> =>
    new Promise((resolve, reject) => {
      let body = '';
      client.post('/', '', Buffer.from('{}'), {
        patience: PATIENCE,
        onHead: () => undefined,
        onData: (chunk) => (body += chunk.toString('latin1')),
        onEnd: () => resolve(body),
        onError: reject,
      });
    });

  test('resume the session of the first one', async () => {
    trust();
    await listen();
    for (let i = 0; i < 4; i++) expect(await call()).toBe('ok');
    expect(resumed).toEqual([false, true, true, true]);
  });

  test('begin anew where the upstream has forgotten it', async () => {
    trust();
    await listen();
    expect(await call()).toBe('ok');
    server.setTicketKeys(Buffer.alloc(48, 1));
    for (let i = 0; i < 2; i++) expect(await call()).toBe('ok');
    expect(resumed).toEqual([false, false, true]);
  });

  test('begin anew behind one that failed, which its session may have been the reason for', async () => {
    trust();
    await listen();
    expect(await call()).toBe('ok');
    server.once('connection', (socket: Socket) => socket.destroy());
    await expect(call()).rejects.toThrow();
    expect(await call()).toBe('ok');
    expect(resumed).toEqual([false, false]);
  });

  test('resume none of an upstream whose certificate nobody knows', async () => {
    await listen();
    const unknown = { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' };
    for (let i = 0; i < 3; i++) await expect(call()).rejects.toMatchObject(unknown);
    expect(resumed).not.toContain(true);
  });
});
