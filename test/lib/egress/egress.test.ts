import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { type Dispatcher, request } from 'undici';
import { RefusedDestination } from '../../../src/lib/egress/destination.js';
import { createEgress, type EgressOptions } from '../../../src/lib/egress/egress.js';
import { selfSigned } from '../../support/certificate.js';

const PUBLIC = '93.184.215.14';

/** A resolver that returns one answer after the other, and the last one from then on. */
function scripted(...answers: string[][]) {
  const asked: string[] = [];
  const resolve: NonNullable<EgressOptions['resolve']> = async (name) => {
    asked.push(name);
    return answers[Math.min(asked.length, answers.length) - 1]!;
  };
  return { asked, resolve };
}

/** A server on one address that counts connections. */
async function listenOn(
  host: string,
  port = 0,
): Promise<{ server: Server; port: number; connections: number }> {
  const state = { server: createServer((_request, response) => response.end(host)), port: 0, connections: 0 };
  state.server.on('connection', () => {
    state.connections++;
  });
  await new Promise<void>((resolve) => state.server.listen(port, host, resolve));
  state.port = (state.server.address() as AddressInfo).port;
  return state;
}

const ask = async (url: URL | string, dispatcher: Dispatcher): Promise<string> => {
  const { body } = await request(url, { dispatcher });
  return body.text();
};

describe('egress', () => {
  let first: Awaited<ReturnType<typeof listenOn>>;
  let second: Awaited<ReturnType<typeof listenOn>>;
  beforeAll(async () => {
    first = await listenOn('127.0.0.1');
    second = await listenOn('127.0.0.2', first.port);
  });
  beforeEach(() => {
    first.connections = 0;
    second.connections = 0;
  });
  afterAll(async () => {
    for (const { server } of [first, second]) await new Promise((resolve) => server.close(resolve));
  });

  test('connects to the checked address, whatever the name resolves to later', async () => {
    const dns = scripted(['127.0.0.2'], ['127.0.0.1']);
    const { url, dispatcher } = await createEgress({ allowPrivate: true, resolve: dns.resolve }).open(
      `http://rebinding.example:${first.port}/`,
    );
    expect(await ask(url, dispatcher)).toBe('127.0.0.2');
    expect(await ask(url, dispatcher)).toBe('127.0.0.2');
    await dispatcher.destroy();
    expect([dns.asked, first.connections]).toEqual([['rebinding.example'], 0]);
  });

  test('resolves again for each delivery, and refuses a name that has become internal since it was saved', async () => {
    const dns = scripted([PUBLIC], ['127.0.0.1']);
    const egress = createEgress({ allowPrivate: false, resolve: dns.resolve });
    const url = `http://rebinding.example:${first.port}/`;
    expect(await egress.checkDestination(url)).toBeNull();
    await expect(egress.open(url)).rejects.toThrow(RefusedDestination);
    expect(await egress.checkDestination(url)).toBe(
      "resolves to an address that isn't on the public internet",
    );
    expect(first.connections).toBe(0);
  });

  test.each([
    [[PUBLIC, '127.0.0.1']],
    [['127.0.0.1', PUBLIC]],
    [[PUBLIC, '::1']],
    [[PUBLIC, '::ffff:10.0.0.1']],
    [[PUBLIC, '2606:4700:4700::1111', '169.254.169.254']],
    [['0.0.0.0']],
    [['fe80::1%eth0']],
    [['no address']],
    [['']],
  ])('refuses the DNS answer %j, in which one address is not public', async (answer) => {
    const egress = createEgress({ allowPrivate: false, resolve: async () => answer });
    await expect(egress.open('https://mixed.example/')).rejects.toThrow(RefusedDestination);
    expect(await egress.checkDestination('https://mixed.example/')).not.toBeNull();
  });

  test('refuses link-local addresses even if private ones are allowed', async () => {
    const egress = createEgress({
      allowPrivate: true,
      resolve: async () => ['127.0.0.1', '169.254.169.254'],
    });
    await expect(egress.open('http://metadata.example/')).rejects.toThrow(RefusedDestination);
  });

  test('sends nothing to an unchecked address, not even one that needs no look-up', async () => {
    const { dispatcher } = await createEgress({ allowPrivate: true }).open(`http://127.0.0.2:${first.port}/`);
    const outcome = ask(`http://127.0.0.1:${first.port}/`, dispatcher);
    await expect(outcome).rejects.toThrow(RefusedDestination);
    await dispatcher.destroy();
  });

  test("accepts a name that can't be resolved when it is saved, and fails at delivery", async () => {
    const egress = createEgress({
      allowPrivate: false,
      resolve: async () => {
        throw new Error('ENOTFOUND');
      },
    });
    expect(await egress.checkDestination('https://not-yet.example/')).toBeNull();
    await expect(egress.open('https://not-yet.example/')).rejects.toThrow('ENOTFOUND');
    const empty = createEgress({ allowPrivate: false, resolve: async () => [] });
    await expect(empty.open('https://empty.example/')).rejects.toThrow('no address');
  });

  test('resolves names like this machine if private addresses are allowed', async () => {
    const { url, dispatcher } = await createEgress({ allowPrivate: true }).open(
      `http://localhost:${first.port}/`,
    );
    expect(await ask(url, dispatcher)).toBe('127.0.0.1');
    await dispatcher.destroy();
  });

  describe('over TLS', () => {
    const HOST = 'hooks.example.com';
    const { key, cert } = selfSigned(HOST);
    const named: unknown[] = [];
    const server = createTlsServer({ key, cert }, (incoming, response) => {
      named.push((incoming.socket as TLSSocket & { servername?: unknown }).servername);
      response.end(`to ${incoming.headers.host}`);
    });
    const trusted = getCACertificates();
    let port = 0;
    beforeAll(async () => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      port = (server.address() as AddressInfo).port;
    });
    afterEach(() => setDefaultCACertificates(trusted));
    afterAll(() => new Promise((resolve) => server.close(resolve)));
    const askFor = async (host: string): Promise<string> => {
      const egress = createEgress({ allowPrivate: true, resolve: async () => ['127.0.0.1'] });
      const { url, dispatcher } = await egress.open(`https://${host}:${port}/`);
      return ask(url, dispatcher).finally(() => dispatcher.destroy());
    };

    test('sends the host name to the checked address, and verifies its certificate for that name', async () => {
      setDefaultCACertificates([...trusted, cert]);
      expect(await askFor(HOST)).toBe(`to ${HOST}:${port}`);
      expect(named).toEqual([HOST]);
      await expect(askFor('other.example.com')).rejects.toMatchObject({
        code: 'ERR_TLS_CERT_ALTNAME_INVALID',
      });
      await expect(askFor('127.0.0.1')).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
    });

    test('sends nothing to a server with an untrusted certificate', async () => {
      await expect(askFor(HOST)).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
      expect(named).toHaveLength(1);
    });
  });
});
