import { exchange, requestText } from './raw.js';
import { useHostileSuite } from './suite.js';

const TARGETS = [
  '/api/admin/users',
  '/api/internal/nodes',
  '/v1/models',
  '/v1/chat/completions',
  '/health/ready',
];

/** Ways in which one reader finds a route and another does not. */
const mutations: ((path: string) => string)[] = [
  (path) => path,
  (path) => `/${path}`,
  (path) => `//${path}`,
  (path) => path.replaceAll('/', '//'),
  (path) => path.replace(/\/(?=[^/]*$)/, '//'),
  (path) => path.replace(/\/(?=[^/]*$)/, '%2f'),
  (path) => path.replaceAll('/', '%2F').replace('%2F', '/'),
  (path) => `/%2f${path.slice(1)}`,
  (path) => `/.${path}`,
  (path) => `/x/..${path}`,
  (path) => `/x/%2e%2e${path}`,
  (path) => `/api/plans/..%2f..${path}`,
  (path) => `/v1/models/../..${path}`,
  (path) => `/v1/..;${path}`,
  (path) => `/health/..${path}`,
  (path) => `/\\..${path}`,
  (path) => path.replaceAll('/', '\\').replace('\\', '/'),
  (path) => `${path}/`,
  (path) => `${path}//`,
  (path) => `${path}/.`,
  (path) => `${path};x=1`,
  (path) => path.replace(/\/(?=[^/]*$)/, ';a=b/'),
  (path) => `${path}%00`,
  (path) => `${path}%20`,
  (path) => `${path}%0d%0aX-Injected:%201`,
  (path) => `${path}.json`,
  (path) => `${path}#x`,
  (path) => `${path}?x=/v1/models`,
  (path) => `${path}?%zz`,
  (path) => `/health?${path}`,
  (path) => path.toUpperCase(),
  (path) => path.replace('a', 'A').replace('m', 'M'),
  (path) => path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  (path) => path.replace(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  (path) => path.replace(/[a-z]/, (letter) => `%25${letter.charCodeAt(0).toString(16)}`),
  (path) => path.replace('/', '/\u00c0\u00af'),
  (path) => path.replace(/\/(?=[^/]*$)/, '%c0%af'),
  (path) => `http://127.0.0.1${path}`,
  (path) => `https://internal.test${path}`,
  (path) => `http://user:pass@127.0.0.1:1${path}`,
  (path) => `HTTP://x${path}`,
  (path) => `http://${path}`,
  (path) => `ftp://x${path}`,
  (path) => `//evil.test${path}`,
  (path) => `/@evil.test${path}`,
  (path) => `*${path}`,
];

const HOSTS = [
  'gateway.test',
  'localhost',
  '127.0.0.1:1',
  'internal',
  'evil.test',
  'a@b',
  'x:99999',
  '',
  '../..',
  '[::1]',
  'a, b',
];
const OVERRIDES = [
  'X-HTTP-Method-Override: GET',
  'X-HTTP-Method: DELETE',
  'X-Method-Override: PUT',
  'X-Original-URL: /api/admin/users',
  'X-Rewrite-URL: /api/admin/users',
  'X-Forwarded-For: 127.0.0.1',
  'X-Forwarded-Host: internal',
  'X-Forwarded-Prefix: /api/admin',
  'X-Forwarded-Proto: https',
  'Forwarded: for=127.0.0.1;host=internal',
  'X-Real-IP: 127.0.0.1',
  'X-Custom-IP-Authorization: 127.0.0.1',
  'X-Api-Key: anything',
  'X-User-Id: 1',
  'X-Role: admin',
];

describe('no spelling of a path, host or method', () => {
  const suite = useHostileSuite();
  const ask = async (line: string, headers: string[], host?: string) =>
    exchange(suite.edge.url, requestText(line, ['Connection: close', ...headers], '', host), {
      halfClose: false,
    });
  /** What only an admin, or only a key, may see. */
  const secret = /"email"|"gateway\/fast"|"balance/;

  const spellings = TARGETS.flatMap((path) => mutations.map((mutate) => mutate(path)));

  test(`reaches an admin's or internal route, or passes the key check: ${spellings.length} paths, by nobody, a user and a key`, async () => {
    expect(new Set(spellings).size).toBeGreaterThanOrEqual(200);
    const credentials: [string, string[]][] = [
      ['nobody', []],
      ['a user', [`Authorization: Bearer ${suite.user}`]],
      ['a key', [`Authorization: Bearer ${suite.caller.key}`]],
    ];
    for (const [who, headers] of credentials) {
      for (const path of spellings) {
        for (const method of ['GET', 'POST']) {
          const { text, statuses, closed } = await ask(`${method} ${path}`, headers);
          expect([who, method, path, closed, statuses.length]).toEqual([who, method, path, true, 1]);
          const [status] = statuses;
          // A key is what /v1 asks for; the public readiness of the edge is no secret.
          if (status === 200 && /health/.test(decodeURIComponent(path.replace(/%(?![0-9a-f]{2})/gi, ''))))
            continue;
          if (status === 200 && who === 'a key' && /^\{"object":"list"/.test(text.split('\r\n\r\n')[1] ?? ''))
            continue;
          expect([who, method, path, status]).toEqual([who, method, path, expect.any(Number)]);
          expect([400, 401, 403, 404, 405, 415]).toContain(status);
          expect(text).not.toMatch(secret);
          expect(text).not.toMatch(/^X-Injected|statusCode/im);
        }
      }
    }
  });

  test('changes anything by a host or an overriding header', async () => {
    const user = `Authorization: Bearer ${suite.user}`;
    for (const host of HOSTS) {
      const admin = await ask('GET /api/admin/users', [user], host);
      expect([host, [400, 403].includes(admin.statuses[0]!)]).toEqual([host, true]);
      const models = await ask('GET /v1/models', [], host);
      expect([host, [400, 401].includes(models.statuses[0]!)]).toEqual([host, true]);
    }
    for (const header of OVERRIDES) {
      expect([header, (await ask('GET /api/admin/users', [user, header])).statuses]).toEqual([header, [403]]);
      expect([header, (await ask('GET /api/plans', [user, header])).text]).toEqual([
        header,
        expect.stringContaining('"free"'),
      ]);
      expect([header, (await ask('GET /v1/models', [header])).statuses]).toEqual([header, [401]]);
    }
  });

  test('is repeated in an answer', async () => {
    for (const path of ['/api/plans', '/docs/api', '/openapi.json', '/nothing', '/v1/models']) {
      const { text } = await ask(`GET ${path}`, ['X-Forwarded-Host: canary-two.test'], 'canary-one.test');
      expect(text).not.toMatch(/canary-/);
    }
  });
});
