import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { UpstreamClient } from '../../../src/lib/upstream/client.js';
import type { CallPatience, Connection, UpstreamHandler } from '../../../src/lib/upstream/connection.js';
import { selfSigned } from '../../support/certificate.js';
import { ownTime } from '../../support/own-time.js';
import { until } from '../../support/until.js';

const OK = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok';
const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

/** A server of bytes: what it was sent on each of its connections, and a way to answer. */
class Upstream {
  readonly sockets: Socket[] = [];
  readonly sent: string[] = [];
  readonly server: Server;
  /** Runs whenever a connection has brought something. */
  onSent: (socket: Socket, at: number) => void = (socket) => socket.write(OK);

  constructor(server?: Server) {
    this.server = server ?? createServer();
    this.server.on(server ? 'secureConnection' : 'connection', (socket: Socket) => {
      const at = this.sockets.push(socket) - 1;
      this.sent[at] = '';
      socket.on('error', () => undefined);
      socket.on('data', (bytes) => {
        this.sent[at] += bytes.toString('latin1');
        this.onSent(socket, at);
      });
    });
  }

  async listen(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `127.0.0.1:${(this.server.address() as { port: number }).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }
}

/** A handler that notes what it hears. */
class Heard implements UpstreamHandler {
  status = 0;
  body = '';
  ends = 0;
  errors: Error[] = [];
  connection: Connection | undefined;

  constructor(readonly patience: CallPatience = { headersTimeoutMs: 5_000, bodyTimeoutMs: 5_000 }) {}

  get over(): boolean {
    return this.ends + this.errors.length > 0;
  }
  onHead({ status }: { status: number }): void {
    this.status = status;
  }
  onData(chunk: Buffer): void {
    this.body += chunk.toString('latin1');
  }
  onEnd(): void {
    this.ends++;
  }
  onError(error: Error): void {
    this.errors.push(error);
  }
}

describe('the client of the upstream', () => {
  let upstream: Upstream;
  let client: UpstreamClient;
  let address: string;
  const hurry: CallPatience = { headersTimeoutMs: 200, bodyTimeoutMs: 100 };
  const timeouts = { connectTimeoutMs: 5_000 };
  beforeEach(async () => {
    upstream = new Upstream();
    address = await upstream.listen();
    client = new UpstreamClient({ url: new URL(`http://${address}/base`), ...timeouts });
  });
  afterEach(async () => {
    client.destroy();
    await upstream.close();
  });

  function post<H extends Heard>(handler: H, body = '{}', from = client): H {
    handler.connection = from.post('/v1/x', 'x-a: 1\r\n', Buffer.from(body), handler);
    return handler;
  }
  const done = async <H extends Heard>(handler: H): Promise<H> => {
    await until(() => handler.over);
    return handler;
  };
  const call = (body?: string): Promise<Heard> => done(post(new Heard(), body));
  const failure = (text: string) => [expect.objectContaining({ message: expect.stringContaining(text) })];

  test('sends a head of ours and the body as it is', async () => {
    const body = `{"é":"${'\u{1f600}'}"}`;
    expect(await call(body)).toMatchObject({ status: 200, body: 'ok', ends: 1, errors: [] });
    const length = Buffer.byteLength(body);
    expect(upstream.sent[0]).toBe(
      `POST /v1/x HTTP/1.1\r\nhost: ${address}\r\nconnection: keep-alive\r\ncontent-type: application/json\r\naccept-encoding: identity\r\nx-a: 1\r\ncontent-length: ${length}\r\n\r\n${Buffer.from(body).toString('latin1')}`,
    );
  });

  test('sends large bodies whole', async () => {
    const body = 'x'.repeat(3_000_000);
    upstream.onSent = (socket, at) => {
      if (upstream.sent[at]!.length > body.length) socket.write(OK);
    };
    expect(await call(body)).toMatchObject({ body: 'ok' });
    expect(upstream.sent[0]!.endsWith(`\r\n\r\n${body}`)).toBe(true);
  });

  test('uses a connection for one call after the other, and several for calls at once', async () => {
    for (let i = 0; i < 5; i++) await call();
    expect(upstream.sockets).toHaveLength(1);
    const both = [post(new Heard()), post(new Heard())];
    for (const one of both) expect(await done(one)).toMatchObject({ body: 'ok', errors: [] });
    expect(upstream.sockets).toHaveLength(2);
    await call();
    expect(upstream.sockets).toHaveLength(2);
  });

  test('closes a connection whose answer says so, or that brings more than its answer', async () => {
    for (const answer of [OK.replace('\r\n', '\r\nconnection: close\r\n'), `${OK}HTTP/1.1 200 OK\r\n`]) {
      upstream.onSent = (socket) => socket.write(answer);
      const closed = upstream.sockets.length;
      expect(await call()).toMatchObject({ body: 'ok', ends: 1 });
      await until(() => upstream.sockets[closed]!.destroyed);
    }
    upstream.onSent = (socket) => socket.write(OK);
    expect(await call()).toMatchObject({ body: 'ok' });
    expect(upstream.sockets).toHaveLength(3);
  });

  test('closes a connection at rest that is spoken to, or closed by the upstream', async () => {
    await call();
    upstream.sockets[0]!.write('HTTP/1.1 200 OK\r\n');
    await until(() => upstream.sockets[0]!.destroyed);
    expect(await call()).toMatchObject({ body: 'ok', errors: [] });
    upstream.sockets[1]!.end();
    await until(() => upstream.sockets[1]!.destroyed);
    expect(await call()).toMatchObject({ body: 'ok', errors: [] });
    expect(upstream.sockets).toHaveLength(3);
  });

  test('what came to a connection at rest is not taken for the answer of the call that wakes it', async () => {
    await call();
    // Both have arrived, and nobody has read them yet.
    upstream.sockets[0]!.write(OK.replace('ok', 'no'));
    expect(await call()).toMatchObject({ body: 'ok', ends: 1, errors: [] });
    upstream.sockets[1]!.destroy();
    expect(await call()).toMatchObject({ body: 'ok', ends: 1, errors: [] });
    upstream.sockets[2]!.resetAndDestroy();
    expect(await call()).toMatchObject({ body: 'ok', ends: 1, errors: [] });
    expect(upstream.sockets).toHaveLength(4);
    await until(() => upstream.sockets[0]!.destroyed);
    expect(upstream.sent.map((sent) => sent.split('POST').length - 1)).toEqual([1, 1, 1, 1]);
  });

  test('a call that is aborted before a connection at rest is woken is not sent', async () => {
    await call();
    const aborted = post(new Heard());
    aborted.connection!.abort(aborted);
    upstream.sockets[0]!.write('HTTP/1.1 200 OK\r\n');
    await until(() => upstream.sockets[0]!.destroyed);
    expect(await call()).toMatchObject({ body: 'ok', errors: [] });
    expect(aborted).toMatchObject({ ends: 0, errors: [] });
    expect(upstream.sent.map((sent) => sent.split('POST').length - 1)).toEqual([1, 1]);
  });

  test('sends nothing behind a body that was answered before it had left', async () => {
    upstream.onSent = (socket) => {
      socket.pause();
      socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n');
    };
    expect(await call('x'.repeat(20_000_000))).toMatchObject({ status: 413, ends: 1, errors: [] });
    upstream.onSent = (socket) => socket.write(OK);
    expect(await call()).toMatchObject({ status: 200 });
    expect(upstream.sockets).toHaveLength(2);
  });

  test('uses a connection no more on which an answer began before its request had left', async () => {
    const body = 'x'.repeat(20_000_000);
    let whole = 0;
    upstream.onSent = (socket, at) => {
      if (whole === 0) {
        whole = upstream.sent[at]!.indexOf('\r\n\r\n') + 4 + body.length;
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no');
      }
      // The rest comes when nothing of the request is left on its way.
      if (socket.bytesRead === whole) socket.write('k');
    };
    expect(await call(body)).toMatchObject({ body: 'ok', ends: 1, errors: [] });
    upstream.onSent = (socket) => socket.write(OK);
    expect(await call()).toMatchObject({ body: 'ok', errors: [] });
    expect(upstream.sockets).toHaveLength(2);
  });

  describe('of calls that are told apart', () => {
    class Named extends Heard {
      constructor(readonly requestId: string) {
        super();
      }
    }
    const answerTo = (id: string) => OK.replace('\r\n', `\r\nX-Request-ID: ${id} \r\n`);
    const named = (id: string, from = client) => done(post(new Named(id), '{}', from));
    const another = failure('to another call');

    test('takes no answer to another one once the upstream names them, and cuts the connection', async () => {
      upstream.onSent = (socket) => socket.write(answerTo('a'));
      expect(await named('a')).toMatchObject({ body: 'ok', errors: [] });
      expect(await named('b')).toMatchObject({ status: 0, body: '', ends: 0, errors: another });
      await until(() => upstream.sockets[0]!.destroyed);
      expect(await named('a')).toMatchObject({ body: 'ok', errors: [] });
      upstream.onSent = (socket) => socket.write(OK);
      expect(await named('c')).toMatchObject({ status: 0, errors: another });
      expect(upstream.sockets).toHaveLength(2);
    });

    test('takes none from the first call on where the upstream is known to name them', async () => {
      const strict = new UpstreamClient({ url: new URL(`http://${address}`), ...timeouts, echoes: true });
      upstream.onSent = (socket) => socket.write(answerTo('a'));
      expect(await named('b', strict)).toMatchObject({ status: 0, errors: another });
      strict.destroy();
    });

    class Owned extends Named {
      constructor(
        requestId: string,
        readonly accountId: string,
      ) {
        super(requestId);
      }
    }
    const owned = (account: string, id = account) => done(post(new Owned(id, account)));

    test('shares no connection between accounts where the upstream names none', async () => {
      upstream.onSent = (socket) => socket.write(OK);
      for (const account of ['a', 'b', 'a', 'b']) {
        expect(await owned(account)).toMatchObject({ body: 'ok', errors: [] });
      }
      expect(upstream.sockets).toHaveLength(2);
    });

    test.each([
      [60_000, 2],
      [0, 1],
    ])('shares those that have rested for %i ms', async (sharedAfterMs, connections) => {
      upstream.onSent = (socket) => socket.write(OK);
      const sharing = new UpstreamClient({ url: new URL(`http://${address}`), ...timeouts, sharedAfterMs });
      for (const account of ['a', 'b', 'a', 'b']) {
        expect(await done(post(new Owned(account, account), '{}', sharing))).toMatchObject({ errors: [] });
      }
      expect(upstream.sockets).toHaveLength(connections);
      sharing.destroy();
    });

    test('shares those at rest between all accounts once the upstream names them', async () => {
      upstream.onSent = (socket) => socket.write(OK);
      for (const account of ['a', 'b']) expect(await owned(account)).toMatchObject({ errors: [] });
      upstream.onSent = (socket) => socket.write(answerTo('id'));
      expect(await owned('a', 'id')).toMatchObject({ body: 'ok', errors: [] });
      const others = await Promise.all(['c', 'd'].map((account) => owned(account, 'id')));
      for (const other of others) expect(other).toMatchObject({ body: 'ok', errors: [] });
      expect(upstream.sockets).toHaveLength(2);
    });

    test('takes all from an upstream that has ids of its own', async () => {
      upstream.onSent = (socket) => socket.write(answerTo('req_1'));
      for (const id of ['a', 'b']) expect(await named(id)).toMatchObject({ body: 'ok', errors: [] });
    });
  });

  test('tells once that nobody listens, that the connection broke, or that the answer is garbage', async () => {
    const gone = new UpstreamClient({ url: new URL('http://127.0.0.1:1'), ...timeouts });
    const refused = await done(post(new Heard(), '{}', gone));
    expect(refused).toMatchObject({ ends: 0, errors: [{ code: 'ECONNREFUSED' }] });
    gone.destroy();

    upstream.onSent = (socket) => socket.resetAndDestroy();
    expect(await call()).toMatchObject({ ends: 0, errors: [{ code: 'ECONNRESET' }] });
    upstream.onSent = (socket) => socket.end(`${CHUNKED}2\r\nok\r\n`);
    expect(await call()).toMatchObject({ body: 'ok', ends: 0, errors: failure('cut off') });
    upstream.onSent = (socket) => socket.write('HTTP/1.1 OK\r\n\r\n');
    expect(await call()).toMatchObject({ status: 0, errors: failure('malformed') });
    upstream.onSent = (socket) => socket.write(`${CHUNKED}zz`);
    expect(await call()).toMatchObject({ status: 200, errors: failure('malformed') });
  });

  test('gives up an upstream that is silent before its answer or in the middle of it, none that is read slowly', async () => {
    const timeout = [expect.objectContaining({ code: 'UPSTREAM_TIMEOUT' })];
    upstream.onSent = () => undefined;
    expect(await done(post(new Heard(hurry)))).toMatchObject({ status: 0, errors: timeout });
    upstream.onSent = (socket) => socket.write(`${CHUNKED}2\r\nok\r\n`);
    expect(await done(post(new Heard(hurry)))).toMatchObject({ body: 'ok', errors: timeout });

    const held = new (class extends Heard {
      override onData(chunk: Buffer): void {
        super.onData(chunk);
        this.connection!.pause(this);
      }
    })(hurry);
    post(held);
    await until(() => held.body === 'ok');
    // Others run into their timeouts meanwhile.
    for (let i = 0; i < 3; i++) await done(post(new Heard(hurry)));
    expect(held.errors).toEqual([]);
    held.connection!.resume(held);
    upstream.sockets[2]!.write('0\r\n\r\n');
    expect(await done(held)).toMatchObject({ body: 'ok', ends: 1, errors: [] });
  });

  test('gives up each call in its own time', async () => {
    const patient = post(new Heard());
    // Answered by now: what comes from here on isn't.
    await until(() => upstream.sent[0]);
    upstream.onSent = () => undefined;
    const waiting = post(new Heard());
    const began = performance.now();
    const hurried = await done(post(new Heard(hurry)));
    expect(hurried.errors).toEqual([expect.objectContaining({ code: 'UPSTREAM_TIMEOUT', connected: true })]);
    expect(performance.now() - began).toBeGreaterThanOrEqual(hurry.headersTimeoutMs);
    expect(await done(patient)).toMatchObject({ body: 'ok', errors: [] });
    expect(waiting.over).toBe(false);
  });

  test('says so where it was not even connected in time', async () => {
    // It takes the connection and says nothing to the handshake.
    const mute = new UpstreamClient({ url: new URL(`https://${address}`), connectTimeoutMs: 100 });
    upstream.onSent = () => undefined;
    const unheard = await done(post(new Heard(), '{}', mute));
    expect(unheard.errors).toEqual([expect.objectContaining({ code: 'UPSTREAM_TIMEOUT', connected: false })]);
    mute.destroy();
  });

  test('reads what has arrived while the process was busy before it gives up', async () => {
    upstream.onSent = (socket) => {
      socket.write(OK);
      for (const end = performance.now() + 2 * hurry.headersTimeoutMs; performance.now() < end; );
    };
    expect(await done(post(new Heard(hurry)))).toMatchObject({ body: 'ok', errors: [] });
  });

  test.each([
    ['a head in pieces without end', 'HTTP/1.1 200 OK\r\nx: ', 'y'],
    ['answers before the answer without end', '', 'HTTP/1.1 102 Processing\r\n\r\n'],
  ])('gives up %s', async (_what, first, then) => {
    let dripping: NodeJS.Timeout | undefined;
    upstream.onSent = (socket) => {
      socket.write(first);
      dripping = setInterval(() => socket.write(then), 20);
    };
    const timeout = [expect.objectContaining({ code: 'UPSTREAM_TIMEOUT' })];
    expect(await done(post(new Heard(hurry)))).toMatchObject({ status: 0, errors: timeout });
    clearInterval(dripping);
  });

  test.each([
    ['with chunks', CHUNKED, '2\r\nok\r\n', '0\r\n\r\n'],
    ['to its end', 'HTTP/1.1 200 OK\r\n\r\n', 'ok', ''],
  ])(
    'an answer %s whose end comes while it is paused is whole once it is read on',
    async (_how, ...parts) => {
      const [head, body, end] = parts as [string, string, string];
      upstream.onSent = (socket) => socket.write(head + body);
      const held = new (class extends Heard {
        override onData(chunk: Buffer): void {
          super.onData(chunk);
          this.connection!.pause(this);
        }
      })();
      post(held);
      await until(() => held.body === 'ok');
      upstream.sockets[0]!.end(end);
      // Another's answer comes later than what was sent before it.
      const other = new UpstreamClient({ url: new URL(`http://${address}`), ...timeouts });
      upstream.onSent = (socket) => socket.write(OK);
      await done(post(new Heard(), '{}', other));
      expect(held).toMatchObject({ ends: 0, errors: [] });
      held.connection!.resume(held);
      expect(await done(held)).toMatchObject({ body: 'ok', ends: 1, errors: [] });
      other.destroy();
    },
  );

  test('reads no further while it is paused', async () => {
    const megabyte = 'x'.repeat(2 ** 20);
    upstream.onSent = (socket) => {
      socket.write(CHUNKED);
      for (let i = 0; i < 32; i++) socket.write(`100000\r\n${megabyte}\r\n`);
      socket.write('0\r\n\r\n');
    };
    const held = new (class extends Heard {
      bytes = 0;
      pauses = true;
      override onData(chunk: Buffer): void {
        this.bytes += chunk.length;
        if (this.pauses) this.connection!.pause(this);
      }
    })();
    post(held);
    await until(() => held.bytes > 0);
    await call().catch(() => undefined);
    expect(held.bytes).toBeLessThanOrEqual(64 * 1024);
    expect(held.connection!.paused).toBe(true);
    held.pauses = false;
    held.connection!.resume(held);
    await done(held);
    expect(held).toMatchObject({ bytes: 32 * 2 ** 20, ends: 1, errors: [] });
  });

  test('an aborted call is told nothing more, and its connection ends', async () => {
    upstream.onSent = (socket) => socket.write(`${CHUNKED}2\r\nok\r\n`);
    const aborted = new (class extends Heard {
      override onData(chunk: Buffer): void {
        super.onData(chunk);
        this.connection!.abort(this);
      }
    })();
    post(aborted);
    await until(() => upstream.sockets[0]?.destroyed);
    expect(aborted).toMatchObject({ body: 'ok', ends: 0, errors: [] });
    upstream.onSent = (socket) => socket.write(OK);
    const next = await call();
    // The word of a call that is over does nothing to the one that uses the connection now.
    aborted.connection!.abort(aborted);
    next.connection!.abort(aborted);
    expect(await call()).toMatchObject({ body: 'ok', errors: [] });
    expect(upstream.sockets).toHaveLength(2);
  });

  test('an aborted call whose connection is not made yet ends it', async () => {
    const aborted = post(new Heard());
    aborted.connection!.abort(aborted);
    expect(await call()).toMatchObject({ body: 'ok' });
    expect(aborted).toMatchObject({ ends: 0, errors: [] });
  });

  test('a handler that throws hears of it, and nobody else does', async () => {
    const thrower = new (class extends Heard {
      override onHead(): void {
        throw new Error('thrown in the head');
      }
    })();
    expect(await done(post(thrower))).toMatchObject({ ends: 0, errors: failure('thrown in the head') });
    const late = new (class extends Heard {
      override onEnd(): void {
        throw new Error('thrown at the end');
      }
    })();
    expect(await done(post(late))).toMatchObject({ errors: failure('thrown at the end') });
    expect(await call()).toMatchObject({ body: 'ok', errors: [] });
  });

  test('a connection at rest is closed before the upstream would close it', async () => {
    upstream.onSent = (socket) => socket.write(OK.replace('\r\n', '\r\nkeep-alive: timeout=2\r\n'));
    await done(post(new Heard(hurry)));
    const time = ownTime();
    const start = time.now();
    await until(() => upstream.sockets[0]!.destroyed, { intervalMs: 20 });
    const restedMs = time.now() - start;
    time.stop();
    expect(restedMs).toBeLessThan(2_000);
  });

  test('speaks TLS to whom it knows, and to nobody else', async () => {
    const pair = selfSigned('localhost');
    // Another test's certificate of the same name would be taken for this one.
    const authorities = getCACertificates();
    const secure = new Upstream(createTlsServer(pair));
    const { port } = new URL(`http://${await secure.listen()}`);
    const overTls = new UpstreamClient({ url: new URL(`https://localhost:${port}`), ...timeouts });
    try {
      const untrusted = await done(post(new Heard(), '{}', overTls));
      expect(untrusted.errors).toEqual([expect.objectContaining({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })]);
      setDefaultCACertificates([pair.cert]);
      for (let i = 0; i < 2; i++) {
        expect(await done(post(new Heard(), '{}', overTls))).toMatchObject({ body: 'ok', errors: [] });
      }
      expect(secure.sockets).toHaveLength(1);
      secure.onSent = (socket) => socket.write(`${CHUNKED}2\r\nok\r\n`);
      const held = post(new Heard(), '{}', overTls);
      await until(() => held.body === 'ok');
      held.connection!.pause(held);
      held.connection!.resume(held);
      secure.sockets[0]!.write('0\r\n\r\n');
      expect(await done(held)).toMatchObject({ ends: 1, errors: [] });
    } finally {
      setDefaultCACertificates(authorities);
      overTls.destroy();
      await secure.close();
    }
  });

  test('a retired client lets calls end, and keeps no connection', async () => {
    await Promise.all([call(), call()]);
    upstream.onSent = (socket) => socket.write(`${CHUNKED}2\r\nok\r\n`);
    const last = post(new Heard());
    await until(() => last.body === 'ok');
    client.retire();
    await until(() => upstream.sockets.filter(({ destroyed }) => destroyed).length === 1);
    expect([client.unused, last.over]).toEqual([false, false]);
    upstream.sockets.find(({ destroyed }) => !destroyed)!.write('0\r\n\r\n');
    expect(await done(last)).toMatchObject({ body: 'ok', ends: 1, errors: [] });
    upstream.onSent = (socket) => socket.write(OK);
    expect(await call()).toMatchObject({ body: 'ok', errors: [] });
    expect(client.unused).toBe(true);
  });

  test('the end of the client ends calls', async () => {
    upstream.onSent = () => undefined;
    const waiting = post(new Heard());
    await until(() => upstream.sent[0]);
    client.destroy();
    expect(waiting).toMatchObject({ ends: 0, errors: failure('closed') });
    expect(await call()).toMatchObject({ ends: 0, errors: failure('closed') });
  });
});
