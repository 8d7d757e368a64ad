import { randomUUID } from 'node:crypto';
import { flushBatch } from '../../src/metering/flush.store.js';
import { recordOf } from '../metering/support.js';
import { signUpAdmin } from '../support/admin.js';
import { call, PASSWORD, type SessionAnswer, signUp } from '../support/api.js';
import { testClock } from '../support/clock.js';
import { createTestDatabase } from '../support/database.js';
import { createTestKey } from '../support/edge.js';
import { ownTime } from '../support/own-time.js';
import { startTestPlatform } from '../support/platform.js';
import { usePlatform } from '../support/platform-suite.js';
import { soonerThan } from '../support/sooner-than.js';
import { until } from '../support/until.js';
import { type RawSocket, rawSocket } from './raw-socket.js';
import { dataOf, documentIdOf } from './support.js';

const USAGE = 'subscription { usageRecorded { id } }';
const FORBIDDEN = { code: 4403, reason: 'The session has ended' };
const subscribe = (id: string, query: string, variables?: unknown) => ({
  id,
  type: 'subscribe',
  payload: { query, variables },
});

describe('a WebSocket of GraphQL', () => {
  const suite = usePlatform();
  let admin: string;
  const open: RawSocket[] = [];

  beforeAll(async () => {
    admin = (await signUpAdmin(suite)).token;
  });
  afterEach(async () => {
    for (const { socket } of open.splice(0)) socket.terminate();
    await until(() => suite.platform.app.websocketServer.clients.size === 0, {
      what: 'no socket to be left',
    });
  });

  const connect = async (...parameters: Parameters<typeof rawSocket>): Promise<RawSocket> => {
    const socket = await rawSocket(...parameters);
    open.push(socket);
    return socket;
  };
  const signedIn = async (
    at = suite.url,
  ): Promise<RawSocket & { token: string; id: string; email: string }> => {
    const { token, user } = await signUp(at);
    const socket = await connect(at);
    await socket.init(token);
    return { ...socket, token, id: user.id, email: user.email };
  };

  test('runs queries and mutations with the session of its first message', async () => {
    const socket = await signedIn();
    socket.say(subscribe('1', '{ viewer { id } }'));
    expect(await socket.hears('next', '1')).toEqual({ data: { viewer: { id: socket.id } } });
    await socket.hears('complete', '1');
    socket.say(
      subscribe('2', 'mutation ($i: TopUpInput!) { topUp(input: $i) { balanceUsd } }', {
        i: { amountUsd: 10 },
      }),
    );
    expect(await socket.hears('next', '2')).toEqual({ data: { topUp: { balanceUsd: '11.000000' } } });
  });

  test('accepts the cookie on our own pages', async () => {
    const { token, user } = await signUp(suite.url);
    const headers = { cookie: `pr_session=${token}`, origin: suite.url, 'sec-fetch-site': 'same-origin' };
    const socket = await connect(suite.url, { headers });
    await socket.init();
    const extensions = { documentId: documentIdOf('query Viewer') };
    socket.say({ id: '1', type: 'subscribe', payload: { query: '', extensions } });
    expect(await socket.hears('next', '1')).toMatchObject({ data: { viewer: { id: user.id } } });
  });

  test('a bearer takes precedence over the cookie, even if it is invalid', async () => {
    const { token } = await signUp(suite.url);
    const socket = await connect(suite.url, { headers: { cookie: `pr_session=${token}` } });
    socket.say({ type: 'connection_init', payload: { authorization: 'Bearer nonsense' } });
    expect((await socket.closed()).code).toBe(4403);
  });

  test('ignores the cookie if the page says so: only a token counts', async () => {
    const { token } = await signUp(suite.url);
    const headers = { cookie: `pr_session=${token}`, origin: suite.url, 'sec-fetch-site': 'same-origin' };
    for (const payload of [{ credentials: 'omit' }, { credentials: 'omit', authorization: 'Basic x' }]) {
      const without = await connect(suite.url, { headers });
      without.say({ type: 'connection_init', payload });
      expect((await without.closed()).code).toBe(4403);
    }
    const socket = await connect(suite.url, { headers });
    const other = await signUp(suite.url);
    const payload = { credentials: 'omit', authorization: `Bearer ${other.token}` };
    socket.say({ type: 'connection_init', payload });
    await socket.hears('connection_ack');
    socket.say(subscribe('1', '{ viewer { id } }'));
    expect(await socket.hears('next', '1')).toEqual({ data: { viewer: { id: other.user.id } } });
  });

  test.each(['Authorization', 'AUTHORIZATION'])('reads the token from the member %s', async (member) => {
    const { token, user } = await signUp(suite.url);
    const socket = await connect(suite.url);
    socket.say({ type: 'connection_init', payload: { [member]: `Bearer ${token}` } });
    await socket.hears('connection_ack');
    socket.say(subscribe('1', '{ viewer { id } }'));
    expect(await socket.hears('next', '1')).toEqual({ data: { viewer: { id: user.id } } });
  });

  test.each([
    ['an Origin elsewhere', { origin: 'https://evil.example' }],
    ['the Origin of a sandbox', { origin: 'null' }],
    ['a sister site', { 'sec-fetch-site': 'same-site' }],
    ['another port of ours', { origin: 'http://127.0.0.1:1' }],
  ])('is refused at the upgrade to %s', async (_what, headers) => {
    const refused = await rawSocket(suite.url, { headers }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ status: 403, body: expect.stringContaining('cross_site_request') });
  });

  test.each([undefined, 'nonsense', 5, {}])('is closed without a session: %j', async (authorization) => {
    const socket = await connect(suite.url);
    socket.say({ type: 'connection_init', payload: { authorization } });
    expect((await socket.closed()).code).toBe(4403);
    expect(socket.heard).toEqual([]);
  });

  test('an operation before the initialisation closes it', async () => {
    const socket = await connect(suite.url);
    socket.say(subscribe('1', '{ plans { name } }'));
    expect((await socket.closed()).code).toBe(4401);
    expect(socket.heard).toEqual([]);
  });

  test('is closed after 5 s of silence', async () => {
    const began = Date.now();
    const socket = await connect(suite.url);
    expect((await socket.closed()).code).toBe(4408);
    expect(Date.now() - began).toBeGreaterThan(4_500);
  });

  test('two initialisations, or two operations with one ID, close it', async () => {
    const twice = await signedIn();
    twice.say({ type: 'connection_init' });
    expect((await twice.closed()).code).toBe(4429);
    const same = await signedIn();
    same.say(subscribe('1', USAGE));
    same.say(subscribe('1', USAGE));
    expect((await same.closed()).code).toBe(4409);
  });

  test.each([
    'not json',
    '[]',
    '{}',
    '{"type":"nonsense"}',
    '{"type":"subscribe","id":"","payload":{}}',
    'null',
    '{"type":"connection_ack"}',
    '{"type":"next","id":"1","payload":{"data":null}}',
    '{"type":"error","id":"1","payload":[{"message":"x"}]}',
  ])('an invalid message, or one meant for clients, closes it: %s', async (text) => {
    const socket = await signedIn();
    socket.say(text);
    expect((await socket.closed()).code).toBe(4400);
  });

  test("a message meant for clients is the client's fault: nothing is logged", async () => {
    const { log } = suite.platform;
    const lines: unknown[] = [];
    const child = log.child.bind(log);
    log.child = ((...options: Parameters<typeof child>) =>
      Object.assign(child(...options), { error: (line: unknown) => lines.push(line) })) as typeof log.child;
    try {
      const socket = await signedIn();
      socket.say({ type: 'next', id: '1', payload: { data: null } });
      expect((await socket.closed()).code).toBe(4400);
      expect(lines).toEqual([]);
    } finally {
      log.child = child as typeof log.child;
    }
  });

  test('supports only graphql-transport-ws', async () => {
    for (const protocol of ['graphql-ws', 'chat']) {
      const refused = await rawSocket(suite.url, { protocol }).catch((error: Error) => error);
      expect(String(refused)).toMatch(/Server sent no subprotocol|refused/);
    }
  });

  test('a frame beyond 64 KiB closes it; nothing is compressed', async () => {
    const socket = await signedIn();
    expect(socket.socket.extensions).toBe('');
    socket.say(subscribe('1', `{ plans { name } } #${'x'.repeat(64 * 1024 - 200)}`));
    await socket.hears('next', '1');
    socket.say(subscribe('2', `{ plans { name } } #${'x'.repeat(64 * 1024)}`));
    expect((await socket.closed()).code).toBe(1009);
  });

  test('an account has at most 10, and another when one is closed', async () => {
    const { token } = await signUp(suite.url);
    for (let n = 0; n < 10; n++) await (await connect(suite.url)).init(token);
    const eleventh = await connect(suite.url);
    eleventh.say({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } });
    expect((await eleventh.closed()).code).toBe(4429);
    await signedIn();
    open[0]!.socket.close();
    await open[0]!.closed();
    await (await connect(suite.url)).init(token);
  });

  test('runs at most 20 operations at a time', async () => {
    const socket = await signedIn();
    for (let n = 0; n < 20; n++) socket.say(subscribe(`${n}`, USAGE));
    socket.say(subscribe('more', USAGE));
    expect(await socket.hears('error', 'more')).toMatchObject([
      { extensions: { code: 'rate_limit_exceeded' } },
    ]);
    socket.say({ type: 'complete', id: '0' });
    await until(async () => {
      const id = randomUUID();
      socket.say(subscribe(id, '{ plans { name } }'));
      await until(() => socket.heard.some((message) => message.id === id));
      return socket.heard.some((message) => message.id === id && message.type === 'next');
    });
  });

  test.each([
    [
      'is disabled',
      (id: string) =>
        dataOf(suite.url, `mutation { disableUser(input: { id: "${id}" }) { user { id } } }`, {
          token: admin,
        }),
    ],
    [
      'gets another role',
      (id: string) =>
        dataOf(suite.url, `mutation { setUserRole(input: { id: "${id}", role: ADMIN }) { user { id } } }`, {
          token: admin,
        }),
    ],
    [
      'logs out',
      (_id: string, token: string) => dataOf(suite.url, 'mutation { logout { success } }', { token }),
    ],
    [
      'is deleted',
      (_id: string, token: string) =>
        dataOf(suite.url, `mutation { deleteAccount(input: { password: "${PASSWORD}" }) { success } }`, {
          token,
        }),
    ],
  ])('is closed within a second when its account %s; others stay', async (_what, end) => {
    const [socket, other] = [await signedIn(), await signedIn()];
    socket.say(subscribe('1', USAGE));
    await end(socket.id, socket.token);
    await soonerThan(1_000, () => socket.socket.readyState === socket.socket.CLOSED, 'the close');
    expect(await socket.closed()).toEqual(FORBIDDEN);
    other.say(subscribe('1', '{ viewer { id } }'));
    await other.hears('next', '1');
  });

  test('a password change closes all except those of the session that made it', async () => {
    const mine = await signedIn();
    const login = await call<SessionAnswer>(suite.url, 'POST', '/api/auth/login', {
      body: { email: mine.email, password: PASSWORD },
    });
    const other = await connect(suite.url);
    await other.init(login.body.access_token);
    await call(suite.url, 'POST', '/api/auth/password', {
      token: mine.token,
      body: { current_password: PASSWORD, new_password: `${PASSWORD} 2` },
    });
    expect(await other.closed()).toEqual(FORBIDDEN);
    mine.say(subscribe('1', '{ viewer { id } }'));
    await mine.hears('next', '1');
  });

  test('is closed when its token ends', async () => {
    // Moved by hand: on a busy machine signing up and connecting may take longer than the token holds.
    const clock = testClock(Math.ceil(Date.now() / 1_000) * 1_000);
    const env = { ACCESS_TOKEN_TTL_SECONDS: '2' };
    const brief = await startTestPlatform(suite.db, { clock, env });
    try {
      const { token } = await signUp(brief.url);
      clock.advance(1_500);
      const socket = await connect(brief.url);
      await socket.init(token);
      socket.say(subscribe('1', USAGE));
      expect(await socket.closed()).toEqual(FORBIDDEN);
    } finally {
      await brief.close();
    }
  });

  test('authenticates each operation again, even without a signal', async () => {
    const socket = await signedIn();
    // Behind the back of everybody: no signal says so.
    await suite.db.pool.query(`update accounts set status = 'disabled' where id = $1`, [socket.id]);
    socket.say(subscribe('1', '{ viewer { id } }'));
    expect(await socket.closed()).toEqual(FORBIDDEN);
    expect(socket.heard.filter(({ type }) => type === 'next')).toEqual([]);
  });

  test('is cut off without an answer to a ping', async () => {
    const impatient = await startTestPlatform(suite.db, { socketBounds: { pingIntervalMs: 500 } });
    try {
      const alive = await signedIn(impatient.url);
      const dead = await signedIn(impatient.url);
      let pings = 0;
      alive.socket.on('ping', () => pings++);
      (dead.socket as unknown as { _autoPong: boolean })._autoPong = false;
      expect((await dead.closed()).code).toBe(1006);
      await until(() => pings >= 4);
      expect(alive.socket.readyState).toBe(alive.socket.OPEN);
    } finally {
      await impatient.close();
    }
  });

  test('a client that pauses reading gets everything later, and each event once', async () => {
    const { token, user } = await signUp(suite.url);
    const { keyId } = await createTestKey(suite.db, { accountId: user.id });
    const socket = await connect(suite.url);
    await socket.init(token);
    socket.say(subscribe('live', 'subscription { usageRecorded { id requestedModel } }'));
    const record = () => recordOf({ accountId: user.id, keyId }, { requestedModel: 'x'.repeat(2_000) });
    const tell = async (count: number): Promise<string[]> => {
      const records = Array.from({ length: count }, record);
      await flushBatch(suite.db.pool, records);
      await suite.db.pool.query(`select pg_notify('usage_flushed', $1)`, [user.id]);
      return records.map(({ id }) => id);
    };
    const heard = () =>
      socket.heard
        .filter(({ type }) => type === 'next')
        .map(({ payload }) => (payload as { data: { usageRecorded: { id: string } } }).data.usageRecorded.id);
    const first: string[] = [];
    await until(async () => {
      first.push(...(await tell(1)));
      await until(() => heard().length > 0, { timeoutMs: 300 }).catch(() => undefined);
      return heard().length > 0;
    });
    const reported = new Set(heard());
    socket.socket.pause();
    const ids: string[] = [];
    for (let n = 0; n < 4; n++) ids.push(...(await tell(900)));
    socket.socket.resume();
    await until(() => socket.heard.length >= reported.size + ids.length, { timeoutMs: 20_000 });
    await until(() => ids.every(Set.prototype.has, new Set(heard())), { timeoutMs: 20_000, intervalMs: 200 });
    const rest = heard().filter((id) => !reported.has(id) && !first.includes(id));
    expect(rest.sort()).toEqual(ids.sort());
  }, 60_000);

  test('internal errors are masked as over HTTP, and logged', async () => {
    const broken = await createTestDatabase();
    const target = await startTestPlatform(broken);
    try {
      const socket = await signedIn(target.url);
      await broken.pool.query('alter table models rename to kin');
      for (const [id, query] of [
        ['1', '{ models { family } }'],
        ['2', '{ viewer { id } models { family } }'],
      ] as const) {
        socket.say(subscribe(id, query));
        const answer = (await socket.hears('next', id)) as {
          errors: { message: string; extensions: unknown }[];
        };
        expect(answer.errors[0]).toMatchObject({
          message: 'Something went wrong on our side. It has been logged.',
          extensions: { code: 'internal_error' },
        });
        const overHttp = await call<{ errors: unknown }>(target.url, 'POST', '/graphql', {
          token: socket.token,
          body: { query },
        });
        expect(overHttp.body.errors).toEqual(answer.errors);
        expect(overHttp.text).not.toMatch(/\bkin\b|does not exist|select|node_modules/);
      }
    } finally {
      await target.close();
      await broken.close();
    }
  });

  test('a stopping platform says so and waits for nobody', async () => {
    const stopping = await startTestPlatform(suite.db);
    const socket = await signedIn(stopping.url);
    const silent = await signedIn(stopping.url);
    silent.socket.pause();
    socket.say(subscribe('1', USAGE));
    const time = ownTime();
    const began = time.now();
    await stopping.close();
    expect(time.now() - began).toBeLessThan(4_000);
    time.stop();
    expect((await socket.closed()).code).toBe(1001);
  });
});
