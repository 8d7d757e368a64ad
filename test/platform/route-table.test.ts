import type { MikroORM } from '@mikro-orm/postgresql';
import fastify from 'fastify';
import { openOrm } from '../../src/db/orm.js';
import { systemClock } from '../../src/lib/clock.js';
import { createEnvelope } from '../../src/lib/crypto.js';
import { createEgress } from '../../src/lib/egress/egress.js';
import { createLogger } from '../../src/lib/logger.js';
import { createRegistry } from '../../src/lib/metrics.js';
import { bindRouteTable } from '../../src/lib/route-table.js';
import { createPlatform, type Platform } from '../../src/platform/app.js';
import { type RouteEntry, routeTable } from '../../src/platform/route-table.js';
import { createPasswords } from '../../src/services/accounts/passwords.js';
import { createPseudonyms } from '../../src/services/accounts/pseudonyms.rules.js';
import { createSignalBoard } from '../../src/services/live/signals.js';
import { createServices } from '../../src/services.js';
import type { ErrorAnswer } from '../support/api.js';
import { testConfig } from '../support/platform.js';

const NOWHERE = 'postgres://127.0.0.1:1/nowhere';

describe('the route table', () => {
  let orm: MikroORM;
  let platform: Platform;
  const start = (table: readonly RouteEntry[]): Promise<Platform> => {
    const config = testConfig(NOWHERE);
    const signals = createSignalBoard();
    const services = createServices({
      config,
      signals,
      clock: systemClock,
      envelopes: {
        virtualKey: createEnvelope('virtual-key', 'x'),
        dataKey: createEnvelope('data-key', 'x'),
        alertSecret: createEnvelope('alert-secret', 'x'),
      },
      passwords: createPasswords(config.passwordHashing),
      pseudonyms: createPseudonyms(Buffer.from('x')),
      egress: createEgress({ allowPrivate: false }),
      virtualKeys: { generate: () => Promise.reject(new Error()), remove: () => Promise.reject(new Error()) },
    });
    const log = createLogger('test', 'silent');
    return createPlatform({
      config,
      orm,
      services,
      clock: systemClock,
      log,
      registry: createRegistry('test'),
      signals,
      ready: async () => false,
      table,
    });
  };
  beforeAll(async () => {
    orm = await openOrm({ databaseUrl: NOWHERE, processName: 'test' });
    platform = await start(routeTable);
    await platform.app.ready();
  });
  afterAll(async () => {
    await platform.close();
    await orm.close(true);
  });

  test('a route without an entry stops the start', async () => {
    const without = routeTable.filter((entry) => entry.url !== '/api/auth/logout');
    await expect(start(without)).rejects.toThrow('no entry in the route table for POST /api/auth/logout');
  });

  test('an entry without a route stops the start', async () => {
    const more: RouteEntry = { ...routeTable[0]!, url: '/api/promised', rate: 'read' };
    const { app, close } = await start([...routeTable, more]);
    await expect(app.ready()).rejects.toThrow('GET /api/promised');
    await close();
  });

  test.each(['none', undefined, 'often'])('a route of /api at the rate %p stops the start', async (rate) => {
    const table = routeTable.map((entry) =>
      entry.url === '/api/usage' ? ({ ...entry, rate } as RouteEntry) : entry,
    );
    await expect(start(table)).rejects.toThrow('at which rate GET /api/usage may be asked');
  });

  test('one route has one entry', () => {
    expect(() => bindRouteTable(fastify(), [routeTable[0]!, routeTable[0]!])).toThrow('two entries');
  });

  test('the method belongs to the entry', async () => {
    const app = fastify();
    bindRouteTable(app, [routeTable.find((entry) => entry.url === '/health')!]);
    app.get('/health', () => 'ok');
    expect(() => app.post('/health', () => 'ok')).toThrow('no entry in the route table for POST /health');
    await app.close();
  });

  const inject = (entry: RouteEntry, headers: Record<string, string> = {}, payload?: string) =>
    platform.app.inject({
      method: entry.method,
      url: entry.url.replace(':id', '01900000-0000-7000-8000-000000000000'),
      headers,
      ...(payload !== undefined && { payload }),
    });

  const named = (entries: readonly RouteEntry[]) =>
    entries.map((entry): [string, RouteEntry] => [`${entry.method} ${entry.url}`, entry]);

  test.each(named(routeTable.filter((entry) => !['none', 'optional'].includes(entry.auth))))(
    '%s refuses whoever has no session',
    async (_name, entry) => {
      const answer = await inject(entry);
      expect([answer.statusCode, answer.json<ErrorAnswer>().error.code]).toEqual([401, 'unauthorized']);
    },
  );

  test.each(
    named(routeTable.filter((entry) => ['none', 'optional'].includes(entry.auth) && entry.method !== 'GET')),
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
  const heads = routeTable.filter(({ method, url }) => method === 'GET' && url !== '/api/usage.csv');
  test.each(named(heads))('%s answers HEAD by the same entry', async (_name, entry) => {
    const { url } = entry;
    const [get, head] = await Promise.all([inject(entry), platform.app.inject({ method: 'HEAD', url })]);
    expect(head.statusCode).toBe(get.statusCode);
    expect(head.body).toBe('');
    expect(head.headers['x-content-type-options']).toBe('nosniff');
  });
});
