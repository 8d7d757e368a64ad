import fastify from 'fastify';
import { requireRules } from '../../src/lib/route-rules.js';
import { requireRate } from '../../src/platform/rates.js';
import { type ApiRouteRules, reads } from '../../src/rest/route-rules.js';
import type { ErrorAnswer } from '../support/api.js';
import { type PlatformRoute, platformRoutes } from '../support/platform-routes.js';
import { usePlatform } from '../support/platform-suite.js';

describe('declarations of routes', () => {
  const suite = usePlatform();

  /** Registers one more route as the platform does. */
  const register = (options: object): void => {
    const app = fastify();
    requireRules<ApiRouteRules>(app, requireRate);
    app.route({ method: 'GET', url: '/api/usage', handler: () => '', ...options });
  };

  test('a route without rules stops the start', () => {
    expect(() => register({})).toThrow("GET /api/usage doesn't declare its rules");
    expect(() => register({ config: reads() })).not.toThrow();
  });

  test.each(['none', undefined, 'often'])('a route of /api with the rate %p stops the start', (rate) => {
    expect(() => register({ config: reads({ rate: rate as ApiRouteRules['rate'] }) })).toThrow(
      "GET /api/usage doesn't declare its rate limit",
    );
  });

  test('include every route of the API', () => {
    expect(platformRoutes.length).toBeGreaterThan(45);
    expect(platformRoutes.map(({ method, url }) => `${method} ${url}`)).toContain('POST /api/keys');
  });

  const inject = (entry: PlatformRoute, headers: Record<string, string> = {}, payload?: string) =>
    suite.platform.app.inject({
      method: entry.method as 'GET',
      url: entry.url.replace(':id', '01900000-0000-7000-8000-000000000000'),
      headers,
      ...(payload !== undefined && { payload }),
    });

  const named = (entries: readonly PlatformRoute[]) =>
    entries.map((entry): [string, PlatformRoute] => [`${entry.method} ${entry.url}`, entry]);

  test.each(named(platformRoutes.filter((entry) => !['none', 'optional', 'internal'].includes(entry.auth))))(
    '%s refuses requests without a session',
    async (_name, entry) => {
      const answer = await inject(entry);
      expect([answer.statusCode, answer.json<ErrorAnswer>().error.code]).toEqual([401, 'unauthorized']);
    },
  );

  test.each(named(platformRoutes.filter((entry) => entry.auth === 'internal')))(
    '%s is disabled without a secret',
    async (_name, entry) => {
      const answer = await inject(entry);
      expect([answer.statusCode, answer.json<ErrorAnswer>().error.code]).toEqual([
        503,
        'internal_routes_disabled',
      ]);
    },
  );

  test.each(
    named(
      platformRoutes.filter((entry) => ['none', 'optional'].includes(entry.auth) && entry.method !== 'GET'),
    ),
  )('%s refuses bodies of other types and beyond its limit', async (_name, entry) => {
    const wrong = await inject(entry, { 'content-type': 'text/plain' }, '{}');
    expect(wrong.statusCode).toBe(415);
    const huge = await inject(
      entry,
      { 'content-type': entry.contentTypes[0]! },
      ' '.repeat(entry.bodyLimitBytes + 1),
    );
    expect(huge.statusCode).toBe(413);
  });

  // An export would be read from end to end for an answer without a body: it has no HEAD.
  const heads = platformRoutes.filter(({ method, url }) => method === 'GET' && !url.endsWith('.csv'));
  test.each(named(heads))('%s answers HEAD by the same rules', async (_name, entry) => {
    const { url } = entry;
    const [get, head] = await Promise.all([
      inject(entry),
      suite.platform.app.inject({ method: 'HEAD', url }),
    ]);
    expect(head.statusCode).toBe(get.statusCode);
    expect(head.body).toBe('');
    expect(head.headers['x-content-type-options']).toBe('nosniff');
  });
});
