import { NODE_SECRET, WITH_SECRET } from '../nodes/support.js';
import { signUpAdmin } from '../support/admin.js';
import { anyText } from '../support/any-text.js';
import fc from '../support/fast-check.js';
import { platformRoutes } from '../support/platform-routes.js';
import { usePlatform } from '../support/platform-suite.js';
import { sized } from '../support/size.js';

const RUNS = sized(15, 200);

/** Texts that break parsers and databases, beside ordinary ones. */
const nasty = fc.oneof(
  anyText(),
  fc.constantFrom('\u0000', '\ud800', '%00', "' or 1=1 --", '1e400', '-0', 'NaN', '__proto__', ' ', '🔑'),
  fc.constantFrom('a@b.cc', 'a\u0000@b.cc', '01900000-0000-7000-8000-000000000000', 'pro', 'active', 'admin'),
);
const value = fc.oneof(nasty, fc.jsonValue(), fc.double({ noNaN: true, noDefaultInfinity: true }));
const FIELDS = [
  'email',
  'password',
  'name',
  'current_password',
  'new_password',
  'plan',
  'status',
  'role',
  'amount_usd',
  'monthly_limit_usd',
  'daily_limit_usd',
  'limit',
  'offset',
  'search',
];
const body = fc.oneof(
  fc.jsonValue(),
  fc.dictionary(fc.oneof(fc.constantFrom(...FIELDS), nasty), value, { maxKeys: 5 }),
);

describe('any request', () => {
  const suite = usePlatform({ env: WITH_SECRET });
  let token: string;
  beforeAll(async () => {
    ({ token } = await signUpAdmin(suite));
  });

  // Log-out would end the session that the others need; GraphQL has fuzzing of its own.
  const entries = platformRoutes
    .filter((entry) => entry.headers === 'api' && !['/api/auth/logout', '/graphql'].includes(entry.url))
    .map((entry): [string, (typeof platformRoutes)[number]] => [`${entry.method} ${entry.url}`, entry]);

  test.each(entries)('%s never answers 500', async (_name, entry) => {
    await fc.assert(
      fc.asyncProperty(
        body,
        fc.dictionary(fc.constantFrom(...FIELDS), nasty),
        nasty,
        async (json, query, id) => {
          const url = entry.url.replace(':id', encodeURIComponent(id.toWellFormed()) || '-');
          const search = Object.entries(query).map(
            ([name, text]) => `${name}=${encodeURIComponent(text.toWellFormed())}`,
          );
          const answer = await suite.platform.app.inject({
            method: entry.method,
            url: entry.method === 'GET' ? `${url}?${search.join('&')}` : url,
            headers: {
              authorization: `Bearer ${entry.auth === 'internal' ? NODE_SECRET : token}`,
              'content-type': 'application/json',
            },
            ...(entry.method !== 'GET' && { payload: JSON.stringify(json) }),
          });
          // No model proxy answers here.
          const isAway = entry.url === '/api/admin/routing' && answer.statusCode === 503;
          expect([answer.statusCode, answer.statusCode < 500 || isAway]).toEqual([answer.statusCode, true]);
          if (answer.statusCode >= 400) expect(answer.json()).toHaveProperty('error.code');
        },
      ),
      { numRuns: RUNS },
    );
  });
});
