import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { UpstreamClient } from '../../../src/lib/upstream/client.js';
import type { CallTimeouts } from '../../../src/lib/upstream/upstream-handler.js';
import { selfSigned } from '../../support/certificate.js';
import { Heard } from '../../support/heard.js';
import { until } from '../../support/until.js';
import { CHUNKED, call, failure, OK, post, RawServer, whole } from './raw-server.js';

const timeout = (connected: boolean) => [expect.objectContaining({ code: 'UPSTREAM_TIMEOUT', connected })];

describe('a call to an upstream', () => {
  let server: RawServer;
  let client: UpstreamClient;
  const hurry: CallTimeouts = { headersTimeoutMs: 200, bodyTimeoutMs: 100 };
  beforeEach(async () => {
    server = new RawServer();
    await server.listen();
    client = server.client();
  });
  afterEach(() => server.close());

  const pausing = (patience?: CallTimeouts): Heard => {
    const held = new Heard(patience);
    held.pausing = true;
    return held;
  };
  const resume = (held: Heard): void => {
    held.pausing = false;
    held.handle!.resume(held);
  };

  test('is sent with its headers and its unchanged body', async () => {
    const body = `{"é":"${'\u{1f600}'}"}`;
    expect(await call(client, body)).toMatchObject({ head: { status: 200 }, ...whole('ok') });
    const length = Buffer.byteLength(body);
    expect(server.received[0]).toBe(
      `POST /v1/x HTTP/1.1\r\nhost: ${server.address}\r\nconnection: keep-alive\r\ncontent-type: application/json\r\naccept-encoding: identity\r\nx-a: 1\r\ncontent-length: ${length}\r\n\r\n${Buffer.from(body).toString('latin1')}`,
    );
  });

  test('is sent completely with a large body', async () => {
    const body = 'x'.repeat(3_000_000);
    server.onBytes = (socket, at) => {
      if (server.received[at]!.length > body.length) socket.write(OK);
    };
    expect(await call(client, body)).toMatchObject(whole('ok'));
    expect(server.received[0]!.endsWith(`\r\n\r\n${body}`)).toBe(true);
  });

  test('fails once if no server listens, or if the connection breaks', async () => {
    const gone = new UpstreamClient({ url: new URL('http://127.0.0.1:1'), connectTimeoutMs: 5_000 });
    expect(await call(gone)).toMatchObject({ ends: 0, errors: [{ code: 'ECONNREFUSED' }] });
    expect(gone.unused).toBe(true);
    server.onBytes = (socket) => socket.resetAndDestroy();
    expect(await call(client)).toMatchObject({ ends: 0, errors: [{ code: 'ECONNRESET' }] });
    expect(server.requests).toEqual([1]);
  });

  test('fails if a kept connection breaks after it was sent, and is not sent again', async () => {
    await call(client);
    server.onBytes = (socket) => socket.resetAndDestroy();
    expect(await call(client)).toMatchObject({ ends: 0, errors: [{ code: 'ECONNRESET' }] });
    expect(server.requests).toEqual([2]);
  });

  test('fails if the body breaks off, and has passed on the part that arrived', async () => {
    server.onBytes = (socket) => socket.end(`${CHUNKED}2\r\nok\r\n`);
    expect(await call(client)).toMatchObject({ text: 'ok', ends: 0, errors: [expect.any(Error)] });
  });

  test('fails if the connection is reset during a body without a length', async () => {
    server.onBytes = (socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nok');
    const cut = post(client, new Heard());
    await until(() => cut.text === 'ok');
    server.sockets[0]!.resetAndDestroy();
    expect(await cut.done()).toMatchObject({ ends: 0, errors: [{ code: 'ECONNRESET' }] });
  });

  test('times out if the upstream is silent before its response or in the middle of it', async () => {
    server.onBytes = () => undefined;
    const silent = await post(client, new Heard(hurry)).done();
    expect(silent).toMatchObject({ head: undefined, errors: timeout(true) });
    await until(() => server.sockets[0]!.destroyed);
    server.onBytes = (socket) => socket.write(`${CHUNKED}2\r\nok\r\n`);
    expect(await post(client, new Heard(hurry)).done()).toMatchObject({ text: 'ok', errors: timeout(true) });
  });

  test("doesn't time out while its handler is paused", async () => {
    server.onBytes = (socket) => socket.write(`${CHUNKED}2\r\nok\r\n`);
    const held = post(client, pausing(hurry));
    await until(() => held.text === 'ok');
    // Other calls time out meanwhile.
    for (let i = 0; i < 3; i++) await post(client, new Heard(hurry)).done();
    expect(held.errors).toEqual([]);
    resume(held);
    server.sockets[0]!.write('0\r\n\r\n');
    expect(await held.done()).toMatchObject(whole('ok'));
  });

  test('times out after its own timeout', async () => {
    const patient = post(client, new Heard());
    await until(() => server.received[0]);
    server.onBytes = () => undefined;
    const waiting = post(client, new Heard());
    const began = performance.now();
    expect(await post(client, new Heard(hurry)).done()).toMatchObject({ errors: timeout(true) });
    expect(performance.now() - began).toBeGreaterThanOrEqual(hurry.headersTimeoutMs);
    expect(await patient.done()).toMatchObject(whole('ok'));
    expect(waiting.over).toBe(false);
  });

  test("fails as not connected if it can't connect in time", async () => {
    // The server accepts the connection and doesn't answer the handshake.
    server.onBytes = () => undefined;
    const mute = server.client({ url: new URL(`https://${server.address}`), connectTimeoutMs: 100 });
    expect(await call(mute)).toMatchObject({ ends: 0, errors: timeout(false) });
    expect(mute.unused).toBe(true);
  });

  test("doesn't time out before input that arrived while the process was busy is read", async () => {
    server.onBytes = (socket) => {
      socket.write(OK);
      for (const end = performance.now() + 2 * hurry.headersTimeoutMs; performance.now() < end; );
    };
    expect(await post(client, new Heard(hurry)).done()).toMatchObject(whole('ok'));
  });

  test.each([
    ['an endless head in pieces', 'HTTP/1.1 200 OK\r\nx: ', 'y'],
    ['endless informational responses', '', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['an empty body after a stream’s head', `${CHUNKED}5;x=`, 'y'],
  ])('times out if the upstream sends %s', async (_what, first, then) => {
    let dripping: NodeJS.Timeout | undefined;
    server.onBytes = (socket) => {
      socket.write(first);
      dripping = setInterval(() => socket.write(then), 20);
    };
    expect(await post(client, new Heard(hurry)).done()).toMatchObject({ text: '', errors: timeout(true) });
    clearInterval(dripping);
  });

  test('times out if only comments follow the head', async () => {
    const commented = new (class extends Heard {
      readonly movedOn = false;
    })({ headersTimeoutMs: 300, bodyTimeoutMs: 100_000 });
    let dripping: NodeJS.Timeout | undefined;
    server.onBytes = (socket) => {
      socket.write(CHUNKED);
      dripping = setInterval(() => socket.write('3\r\n:\n\n\r\n'), 20);
    };
    expect(await post(client, commented).done()).toMatchObject({ ends: 0, errors: timeout(true) });
    expect(commented.bytes).toBeGreaterThan(3);
    clearInterval(dripping);
  });

  test.each([
    ['with chunks', CHUNKED, '2\r\nok\r\n', '0\r\n\r\n'],
    ['to the end of the connection', 'HTTP/1.1 200 OK\r\n\r\n', 'ok', ''],
  ])(
    'is complete after a resume if its response %s ended while it was paused',
    async (_how, head, body, end) => {
      server.onBytes = (socket) => socket.write(head + body);
      const held = post(client, pausing());
      await until(() => held.text === 'ok');
      server.sockets[0]!.end(end);
      // The answer of this later call arrives after the bytes sent before it.
      server.onBytes = (socket) => socket.write(OK);
      await call(server.client());
      expect(held).toMatchObject({ ends: 0, errors: [] });
      resume(held);
      expect(await held.done()).toMatchObject(whole('ok'));
    },
  );

  test("gets no bytes while it is paused, and the rest isn't read", async () => {
    const megabyte = 'x'.repeat(2 ** 20);
    server.onBytes = (socket) => {
      socket.write(CHUNKED);
      for (let i = 0; i < 32; i++) socket.write(`100000\r\n${megabyte}\r\n`);
      socket.write('0\r\n\r\n');
    };
    const held = post(client, pausing());
    await until(() => held.bytes > 0);
    const taken = held.bytes;
    await call(server.client()).catch(() => undefined);
    expect(held.bytes).toBe(taken);
    expect(server.sockets[0]!.writableLength).toBeGreaterThan(8 * 2 ** 20);
    resume(held);
    expect(await held.done()).toMatchObject({ bytes: 32 * 2 ** 20, ends: 1, errors: [] });
  });

  test('keeps at most twice the bytes of its response in memory, even in tiny chunks', async () => {
    server.onBytes = (socket) => {
      socket.write(CHUNKED);
      for (let i = 0; i < 10; i++) socket.write('1\r\nx\r\n'.repeat(10_000));
      socket.write('0\r\n\r\n');
    };
    const { pieces, bytes } = await call(client);
    const held = new Set(pieces.map(({ buffer }) => buffer));
    const heldBytes = [...held].reduce((sum, { byteLength }) => sum + byteLength, 0);
    expect(bytes).toBe(100_000);
    expect(heldBytes).toBeLessThanOrEqual(200_000);
  });

  test('gets nothing more after an abort, and its connection is closed', async () => {
    server.onBytes = (socket) => socket.write(`${CHUNKED}2\r\nok\r\n`);
    const aborted = new (class extends Heard {
      override onData(chunk: Buffer): void {
        super.onData(chunk);
        this.handle!.abort(this);
      }
    })();
    post(client, aborted);
    await until(() => server.sockets[0]?.destroyed);
    expect(aborted).toMatchObject({ text: 'ok', ends: 0, errors: [] });
    server.onBytes = (socket) => socket.write(OK);
    const next = await call(client);
    // A handler whose call is over can't affect the connection's next call.
    aborted.handle!.abort(aborted);
    next.handle!.abort(aborted);
    expect(await call(client)).toMatchObject(whole('ok'));
    expect(server.sockets).toHaveLength(2);
  });

  test("isn't sent if it is aborted at once, on a new connection or a kept one", async () => {
    for (let i = 0; i < 2; i++) {
      const aborted = post(client, new Heard());
      aborted.handle!.abort(aborted);
      expect(await call(client)).toMatchObject(whole('ok'));
      expect(aborted).toMatchObject({ head: undefined, ends: 0, errors: [] });
    }
    expect(server.requests.reduce((sum, count) => sum + count)).toBe(2);
  });

  test('fails alone with the error that its handler throws', async () => {
    const thrower = new (class extends Heard {
      override onHead(): void {
        throw new Error('thrown in the head');
      }
    })();
    expect(await post(client, thrower).done()).toMatchObject(failure('thrown in the head'));
    const late = new (class extends Heard {
      override onEnd(): void {
        throw new Error('thrown at the end');
      }
    })();
    expect(await post(client, late).done()).toMatchObject(failure('thrown at the end'));
    expect(await call(client)).toMatchObject(whole('ok'));
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'goes over %s to whom it knows, and to nobody else',
    async (version) => {
      const pair = selfSigned('localhost');
      // A certificate of the same name from another test would be mistaken for this one.
      const authorities = getCACertificates();
      const tls = createTlsServer({ ...pair, minVersion: version, maxVersion: version });
      const secure = new RawServer(tls, 'secureConnection');
      await secure.listen();
      const client = secure.client({ url: new URL(`https://localhost:${secure.address.split(':')[1]}`) });
      const unknown = { ends: 0, errors: [{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }] };
      try {
        for (let i = 0; i < 3; i++) expect(await call(client)).toMatchObject(unknown);
        setDefaultCACertificates([pair.cert]);
        secure.onBytes = (socket) => socket.end(OK);
        // Sessions that the upstream has forgotten cost a handshake, but fail no call.
        for (let i = 0; i < 4; i++) {
          expect(await call(client)).toMatchObject(whole('ok'));
          if (i === 1) tls.setTicketKeys(Buffer.alloc(48, 1));
        }
        expect(secure.received.join('')).toMatch(/^(?:POST [^\0]*?\{\}){4}$/);
        secure.onBytes = (socket) => socket.write(`${CHUNKED}2\r\nok\r\n`);
        const held = post(client, pausing());
        await until(() => held.text === 'ok');
        resume(held);
        secure.sockets.at(-1)!.write('0\r\n\r\n');
        expect(await held.done()).toMatchObject(whole('ok'));
      } finally {
        setDefaultCACertificates(authorities);
        await secure.close();
      }
    },
  );
});
