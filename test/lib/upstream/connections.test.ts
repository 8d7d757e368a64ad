import { setImmediate as turn } from 'node:timers/promises';
import { Heard } from '../../support/heard.js';
import { ownTime } from '../../support/own-time.js';
import { until } from '../../support/until.js';
import { CHUNKED, call, failure, OK, post, RawServer, whole } from './raw-server.js';

describe('connections to an upstream', () => {
  let server: RawServer;
  let client: ReturnType<RawServer['client']>;
  beforeEach(async () => {
    server = new RawServer();
    await server.listen();
    client = server.client();
  });
  afterEach(() => server.close());

  test('carry one call after another, one connection per concurrent call', async () => {
    for (let i = 0; i < 5; i++) await call(client);
    expect(server.sockets).toHaveLength(1);
    const both = [post(client, new Heard()), post(client, new Heard())];
    for (const one of both) expect(await one.done()).toMatchObject(whole('ok'));
    expect(server.sockets).toHaveLength(2);
    await call(client);
    expect(server.sockets).toHaveLength(2);
  });

  test.each([
    ['whose response asks for it', OK.replace('\r\n', '\r\nconnection: close\r\n')],
    ['of HTTP/1.0', OK.replace('1.1', '1.0')],
    ['that sends more than its response', `${OK}HTTP/1.1 200 OK\r\n`],
    ['that sends noise after its response', `${OK}x`],
    ['that may send the body of a 204', 'HTTP/1.1 204 X\r\ncontent-length: 2\r\n\r\n'],
    ['that the upstream closes in a second', OK.replace('\r\n', '\r\nkeep-alive: timeout=1\r\n')],
  ])('are closed: one %s', async (_which, response) => {
    server.onBytes = (socket) => socket.write(response);
    expect(await call(client)).toMatchObject({ ends: 1, errors: [] });
    await until(() => server.sockets[0]!.destroyed);
    server.onBytes = (socket) => socket.write(OK);
    expect(await call(client)).toMatchObject(whole('ok'));
    expect(server.sockets).toHaveLength(2);
  });

  test('are closed if they send bytes while idle, or if the upstream closes them', async () => {
    await call(client);
    server.sockets[0]!.write('HTTP/1.1 200 OK\r\n');
    await until(() => server.sockets[0]!.destroyed);
    expect(await call(client)).toMatchObject(whole('ok'));
    server.sockets[1]!.end();
    await until(() => server.sockets[1]!.destroyed);
    expect(await call(client)).toMatchObject(whole('ok'));
    expect(server.sockets).toHaveLength(3);
  });

  test.each<[string, (server: RawServer) => void]>([
    ['a stray response', ({ sockets }) => sockets[0]!.write(OK.replace('ok', 'no'))],
    ['noise', ({ sockets }) => sockets[0]!.write('noise')],
    ['its end', ({ sockets }) => sockets[0]!.destroy()],
    ['a reset', ({ sockets }) => sockets[0]!.resetAndDestroy()],
  ])('that get %s while idle carry no call; the call is sent once on another one', async (_what, bring) => {
    // Before the call is made, and while its connection is checked.
    for (const moment of ['before', 'with']) {
      const own = new RawServer();
      await own.listen();
      const kept = own.client();
      await call(kept);
      if (moment === 'before') bring(own);
      const next = post(kept, new Heard());
      if (moment === 'with') bring(own);
      expect(await next.done()).toMatchObject(whole('ok'));
      expect(own.requests).toEqual([1, 1]);
      await own.close();
    }
  });

  test('send nothing after a body whose response arrived before the body was sent', async () => {
    server.onBytes = (socket) => {
      socket.pause();
      socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n');
    };
    expect(await call(client, 'x'.repeat(20_000_000))).toMatchObject({ head: { status: 413 }, ends: 1 });
    server.onBytes = (socket) => socket.write(OK);
    expect(await call(client)).toMatchObject(whole('ok'));
    expect(server.sockets).toHaveLength(2);
  });

  test('carry no other call after a response that began before its request was sent', async () => {
    const body = 'x'.repeat(20_000_000);
    let size = 0;
    server.onBytes = (socket, at) => {
      if (size === 0) {
        size = server.received[at]!.indexOf('\r\n\r\n') + 4 + body.length;
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no');
      }
      // The rest arrives once the whole request was sent.
      if (socket.bytesRead === size) socket.write('k');
    };
    expect(await call(client, body)).toMatchObject(whole('ok'));
    server.onBytes = (socket) => socket.write(OK);
    expect(await call(client)).toMatchObject(whole('ok'));
    expect(server.sockets).toHaveLength(2);
  });

  test('are closed while idle before the upstream would close them', async () => {
    server.onBytes = (socket) => socket.write(OK.replace('\r\n', '\r\nkeep-alive: timeout=2\r\n'));
    await call(client);
    const time = ownTime();
    const start = time.now();
    await until(() => server.sockets[0]!.destroyed, { intervalMs: 20 });
    const restedMs = time.now() - start;
    time.stop();
    expect(restedMs).toBeLessThan(2_000);
  });

  test('finish their calls after the client is retired, and are closed then', async () => {
    await Promise.all([call(client), call(client)]);
    server.onBytes = (socket) => socket.write(`${CHUNKED}2\r\nok\r\n`);
    const last = post(client, new Heard());
    await until(() => last.text === 'ok');
    client.retire();
    await until(() => server.sockets.filter(({ destroyed }) => destroyed).length === 1);
    expect([client.unused, last.over]).toEqual([false, false]);
    server.sockets.find(({ destroyed }) => !destroyed)!.write('0\r\n\r\n');
    expect(await last.done()).toMatchObject(whole('ok'));
    server.onBytes = (socket) => socket.write(OK);
    expect(await call(client)).toMatchObject(whole('ok'));
    expect(client.unused).toBe(true);
    await until(() => server.sockets.every(({ destroyed }) => destroyed));
  });

  test('are closed with the client, which aborts their calls', async () => {
    server.onBytes = () => undefined;
    const waiting = post(client, new Heard());
    await until(() => server.received[0]);
    client.destroy();
    expect(waiting).toMatchObject(failure('closed'));
    expect(await call(client)).toMatchObject(failure('closed'));
    await until(() => server.sockets[0]!.destroyed);
  });

  describe('of several accounts', () => {
    class Owned extends Heard {
      constructor(
        readonly accountId: string,
        readonly requestId: string,
      ) {
        super();
      }
    }
    const named = (id: string, from = client) => post(from, new Owned('account', id)).done();
    const owned = (account: string, from = client, id = account) => post(from, new Owned(account, id)).done();
    const answerTo = (id: string) => OK.replace('\r\n', `\r\nX-Request-ID: ${id} \r\n`);
    const another = { head: undefined, text: '', ...failure('to another call') };

    test('pass no stray response to another call once the upstream echoes ids, and are closed after one', async () => {
      server.onBytes = (socket) => socket.write(answerTo('a'));
      expect(await named('a')).toMatchObject(whole('ok'));
      expect(await named('b')).toMatchObject(another);
      await until(() => server.sockets[0]!.destroyed);
      expect(await named('a')).toMatchObject(whole('ok'));
      server.onBytes = (socket) => socket.write(OK);
      expect(await named('c')).toMatchObject(another);
      expect(server.sockets).toHaveLength(2);
    });

    test('pass none from the first call on if the upstream is known to echo ids', async () => {
      server.onBytes = (socket) => socket.write(answerTo('a'));
      expect(await named('b', server.client({ echoes: true }))).toMatchObject(another);
    });

    test('pass all responses of an upstream that sends ids of its own', async () => {
      server.onBytes = (socket) => socket.write(answerTo('req_1'));
      for (const id of ['a', 'b']) expect(await named(id)).toMatchObject(whole('ok'));
    });

    test('are not shared if the upstream echoes no ids', async () => {
      for (const account of ['a', 'b', 'a', 'b']) expect(await owned(account)).toMatchObject(whole('ok'));
      expect(server.sockets).toHaveLength(2);
    });

    test.each([
      [60_000, 2],
      [0, 1],
    ])('are shared once they have been idle for %i ms', async (sharedAfterMs, connections) => {
      const sharing = server.client({ sharedAfterMs });
      for (const account of ['a', 'b', 'a', 'b'])
        expect(await owned(account, sharing)).toMatchObject(whole('ok'));
      expect(server.sockets).toHaveLength(connections);
    });

    test('are shared, including idle ones, once the upstream echoes ids', async () => {
      for (const account of ['a', 'b']) expect(await owned(account)).toMatchObject(whole('ok'));
      server.onBytes = (socket) => socket.write(answerTo('id'));
      expect(await owned('a', client, 'id')).toMatchObject(whole('ok'));
      const others = await Promise.all(['c', 'd'].map((account) => owned(account, client, 'id')));
      for (const other of others) expect(other).toMatchObject(whole('ok'));
      expect(server.sockets).toHaveLength(2);
    });
  });

  test("are opened and written to only after the caller's work at the end of the turn", async () => {
    const order: string[] = [];
    server.onBytes = (socket) => {
      order.push('sent');
      socket.write(OK);
    };
    // From both phases of the event loop, on a new connection and on an idle one.
    for (let i = 0; i < 4; i++) {
      if (i % 2 === 0) await turn();
      setImmediate(() => order.push('intent'));
      await call(client);
    }
    expect(order).toEqual(Array.from({ length: 4 }, () => ['intent', 'sent']).flat());
  });
});
