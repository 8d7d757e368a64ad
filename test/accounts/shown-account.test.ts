import { randomUUID } from 'node:crypto';
import { rawSocket } from '../graphql/raw-socket.js';
import { codesOf, documentIdOf, type GraphqlAnswer, operate } from '../graphql/support.js';
import { signUpAdmin } from '../support/admin.js';
import { call, type ErrorAnswer, PASSWORD, sessionCookie, signUp } from '../support/api.js';
import { usePlatform } from '../support/platform-suite.js';

/** All tabs of a browser share a cookie: a page says whose account it shows, and acts for nobody else. */
describe('a page that names the account it shows', () => {
  const suite = usePlatform();
  /** Whom the page shows, and who has logged in since. */
  let shown: Awaited<ReturnType<typeof signUp>>;
  let present: Awaited<ReturnType<typeof signUp>>;
  beforeAll(async () => {
    [shown, present] = [await signUp(suite.url), await signUp(suite.url)];
  });

  const page = (accountId: string): Record<string, string> => ({
    cookie: `pr_session=${present.token}`,
    'x-gateway-account': accountId,
  });
  const keysOf = async ({ token }: { token: string }): Promise<string[]> => {
    const { body } = await call<{ name: string }[]>(suite.url, 'GET', '/api/keys', { token });
    return body.map(({ name }) => name);
  };
  const createKey = (headers: Record<string, string>, name: string = randomUUID()) =>
    call<ErrorAnswer>(suite.url, 'POST', '/api/keys', { headers, body: { name } });
  const CREATE_KEY =
    'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { apiKey { id } } }';

  test('is refused if the cookie is of another account, and nothing is done', async () => {
    const before = await keysOf(present);
    const write = await createKey(page(shown.user.id));
    expect(write.status).toBe(409);
    expect(write.body).toEqual({
      error: {
        message: expect.stringMatching(/belongs to another account .* Reload the page\.$/),
        type: 'invalid_request_error',
        param: null,
        code: 'account_changed',
      },
    });
    const read = await call<ErrorAnswer>(suite.url, 'GET', '/api/auth/me', { headers: page(shown.user.id) });
    expect([read.status, read.body.error.code]).toEqual([409, 'account_changed']);
    expect(read.text).not.toContain(present.user.email);
    const logout = await call(suite.url, 'POST', '/api/auth/logout', { headers: page(shown.user.id) });
    expect(logout.status).toBe(409);
    expect(await keysOf(present)).toEqual(before);
  });

  test('gets the account error before the error that this account is no administrator', async () => {
    const { user } = await signUpAdmin(suite);
    const answer = await call(suite.url, 'GET', '/api/admin/users', { headers: page(user.id) });
    expect(answer.status).toBe(409);
  });

  test('is served if it is the same account, or if it names none', async () => {
    expect((await createKey(page(present.user.id), 'mine')).status).toBe(201);
    expect((await createKey(page(present.user.id.toUpperCase()), 'in capitals')).status).toBe(201);
    expect((await createKey({ cookie: `pr_session=${present.token}` }, 'of nobody')).status).toBe(201);
    expect(await keysOf(present)).toEqual(expect.arrayContaining(['mine', 'in capitals', 'of nobody']));
  });

  test.each([
    ['nothing', ''],
    ['a word', 'me'],
    ['a letter beyond ASCII', '\u00ff'],
    ['two IDs', `${randomUUID()}, ${randomUUID()}`],
    ['a long text', 'a'.repeat(5_000)],
  ])('must name it by one ID, not by %s', async (_what, malformed) => {
    const rest = await createKey(page(malformed));
    expect([rest.status, rest.body.error.code]).toEqual([400, 'invalid_request']);
    const graphql = await operate(suite.url, '{ viewer { id } }', { headers: page(malformed) });
    expect([graphql.status, codesOf(graphql)]).toEqual([400, ['invalid_request']]);
  });

  test('can still log in, and show public data', async () => {
    const login = await call(suite.url, 'POST', '/api/auth/login', {
      headers: page(shown.user.id),
      // As another account it would end the session of the cookie.
      body: { email: present.user.email, password: PASSWORD },
    });
    expect(login.status).toBe(200);
    expect(sessionCookie(login)).toBeDefined();
    expect((await call(suite.url, 'GET', '/api/plans', { headers: page('me') })).status).toBe(200);
  });

  test.each([['another account'], ['nonsense']])(
    'a bearer acts for itself, even if it names %s',
    async (what) => {
      const headers = { 'x-gateway-account': what === 'nonsense' ? what : shown.user.id };
      const { token, user } = present;
      const rest = await call<{ id: string }>(suite.url, 'GET', '/api/auth/me', { token, headers });
      expect([rest.status, rest.body.id]).toEqual([200, user.id]);
      const graphql = await operate(suite.url, '{ viewer { id } }', { token, headers });
      expect(graphql.body.data).toEqual({ viewer: { id: user.id } });
    },
  );

  test.each([['an account'], ['nonsense']])(
    'without a session of its cookie gets that error, even if it names %s',
    async (what) => {
      const headers = {
        cookie: 'pr_session=nonsense',
        'x-gateway-account': what === 'nonsense' ? what : shown.user.id,
      };
      expect((await createKey(headers)).status).toBe(401);
      expect(codesOf(await operate(suite.url, '{ viewer { id } }', { headers }))).toEqual(['unauthorized']);
    },
  );

  test.each(['application/json', 'application/graphql-response+json'])(
    'is refused by GraphQL, also in %s',
    async (accept) => {
      const before = await keysOf(present);
      const ask = (accountId: string) =>
        call<GraphqlAnswer>(suite.url, 'POST', '/graphql', {
          headers: { ...page(accountId), accept },
          body: { query: CREATE_KEY, variables: { input: { name: 'over GraphQL' } } },
        });
      const refused = await ask(shown.user.id);
      expect([refused.status, codesOf(refused), refused.body.data]).toEqual([
        409,
        ['account_changed'],
        undefined,
      ]);
      expect(await keysOf(present)).toEqual(before);
      expect(codesOf(await ask(present.user.id))).toEqual([]);
      expect((await keysOf(present)).length).toBe(before.length + 1);
    },
  );

  describe('over WebSocket', () => {
    const begin = async (payload: Record<string, unknown>, { token } = present) => {
      const headers = {
        cookie: `pr_session=${token}`,
        origin: suite.url,
        'sec-fetch-site': 'same-origin',
      };
      const socket = await rawSocket(suite.url, { headers });
      socket.say({ type: 'connection_init', payload });
      return socket;
    };

    test('is closed if the cookie is of another account, before anything runs', async () => {
      const socket = await begin({ accountId: shown.user.id });
      expect(await socket.closed()).toEqual({ code: 4403, reason: 'The cookie belongs to another account' });
      expect(socket.heard).toEqual([]);
    });

    test.each([{ accountId: 'me' }, { accountId: '' }, { accountId: 5 }, { accountId: {} }])(
      'is closed as malformed if it names no ID: %j',
      async (payload) => {
        const socket = await begin(payload);
        expect((await socket.closed()).code).toBe(4400);
        expect(socket.heard).toEqual([]);
      },
    );

    test('is accepted if it is the same account, names none, or sends a token', async () => {
      const { token, user } = present;
      for (const payload of [
        { accountId: user.id },
        { accountId: null },
        {},
        { accountId: shown.user.id, authorization: `Bearer ${token}` },
        { accountId: 'me', authorization: `Bearer ${token}` },
      ]) {
        const socket = await begin(payload);
        await socket.hears('connection_ack');
        const extensions = { documentId: documentIdOf('query Viewer') };
        socket.say({ id: '1', type: 'subscribe', payload: { query: '', extensions } });
        expect(await socket.hears('next', '1')).toMatchObject({ data: { viewer: { id: user.id } } });
        socket.socket.terminate();
      }
    });

    test.each(['an account', 'nonsense'])(
      'is closed for the missing session if the cookie has none, even if it names %s',
      async (what) => {
        const accountId = what === 'nonsense' ? what : shown.user.id;
        const socket = await begin({ accountId }, { ...present, token: 'nonsense' });
        expect(await socket.closed()).toEqual({ code: 4403, reason: 'Forbidden' });
      },
    );
  });
});
