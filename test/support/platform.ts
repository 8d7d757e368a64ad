import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Registry } from 'prom-client';
import { type Config, loadConfig } from '../../src/config.js';
import { schemaIsCurrent } from '../../src/db/schema-version.js';
import type { SocketBounds } from '../../src/graphql/socket.js';
import { type Clock, systemClock } from '../../src/lib/clock.js';
import { createEgress } from '../../src/lib/egress/egress.js';
import { JsonReader } from '../../src/lib/json-reader.js';
import { createLogger, type Logger } from '../../src/lib/logger.js';
import { createRegistry } from '../../src/lib/metrics.js';
import { UpstreamClient } from '../../src/lib/upstream/client.js';
import { HttpUpstream, type Upstream } from '../../src/lib/upstream/upstream.js';
import { WorkerThread } from '../../src/lib/worker-thread.js';
import { loadWebBuild, type WebBuild } from '../../src/pages/web-build.js';
import { createPlatform, type Platform, type PlatformDeps } from '../../src/platform/app.js';
import { createPasswords } from '../../src/services/accounts/passwords.js';
import { openPseudonymKey } from '../../src/services/accounts/pseudonym-key.store.js';
import { createPseudonyms } from '../../src/services/accounts/pseudonyms.rules.js';
import { type AskRouting, routingOfProxy } from '../../src/services/admin/routing.js';
import { createEnvelopes } from '../../src/services/envelopes.js';
import type { VirtualKeyClient } from '../../src/services/keys/virtual-keys.js';
import { openSignals } from '../../src/services/live/open-signals.js';
import { openPlayground } from '../../src/services/playground/open-playground.js';
import { createServices, type Services } from '../../src/services.js';
import type { TestDatabase } from './database.js';
import { TEST_SECRETS } from './secrets.js';

export interface TestPlatformOptions {
  /** Environment variables that override those of the tests. */
  env?: Record<string, string>;
  clock?: Clock;
  virtualKeys?: VirtualKeyClient;
  /** Sends the calls of the playground; by default, HTTP to `UPSTREAM_URL`. */
  upstream?: Upstream;
  askRouting?: AskRouting;
  registry?: Registry;
  socketBounds?: Partial<SocketBounds>;
  /** Time for playground runs to end when it closes; none by default. */
  runsMayEndMs?: number;
  bounds?: PlatformDeps['bounds'];
  /** A free one by default. */
  port?: number;
  /** Web pages; by default those of this checkout. `null`: none. */
  web?: WebBuild | null;
}

export interface TestPlatform {
  url: string;
  app: Platform['app'];
  config: Config;
  services: Services;
  log: Logger;
  close(): Promise<void>;
}

const testEnv = {
  NODE_ENV: 'test',
  LOG_LEVEL: 'silent',
  PASSWORD_HASH_PROFILE: 'test',
  ...TEST_SECRETS,
  UPSTREAM_URL: 'http://127.0.0.1:9',
  DATA_DIR: join(tmpdir(), 'gateway-test-data'),
};

/** The configuration of the tests, which writes nothing to disk. */
export const testConfig = (databaseUrl: string, env: Record<string, string> = {}): Config =>
  loadConfig({ ...testEnv, DATABASE_URL: databaseUrl, ...env }, 'platform');

/** An upstream that fails every call, for tests that expect none. */
const noVirtualKeys: VirtualKeyClient = {
  generate: () => Promise.reject(new Error('no model proxy in this test')),
  remove: () => Promise.reject(new Error('no model proxy in this test')),
};

/** Starts the whole platform on a free port of loopback, with a test's database. */
export async function startTestPlatform(
  db: TestDatabase,
  {
    env,
    clock = systemClock,
    virtualKeys = noVirtualKeys,
    upstream: given,
    askRouting,
    registry = createRegistry('test'),
    socketBounds,
    bounds,
    port = 0,
    web,
    runsMayEndMs: stopPatienceMs = 0,
  }: TestPlatformOptions = {},
): Promise<TestPlatform> {
  const config = testConfig(db.url, env);
  const log = createLogger('test', config.logLevel);
  const signals = openSignals(config, log);
  const em = () => db.orm.em.fork();
  const url = new URL(config.upstreamUrl!);
  const http = new HttpUpstream(new UpstreamClient({ url, connectTimeoutMs: 5_000 }), '');
  const upstream = given ?? http;
  const json = new JsonReader(new WorkerThread(log));
  const playground = openPlayground({
    config,
    clock,
    log,
    registry,
    json,
    signals,
    em,
    upstream,
    stopPatienceMs,
  });
  const services = createServices({
    config,
    clock,
    playground,
    signals,
    passwords: createPasswords(config.passwordHashing),
    pseudonyms: createPseudonyms(await openPseudonymKey(db.orm.em.fork(), config)),
    virtualKeys,
    modelRoutes: { simulated: () => [] },
    askRouting: askRouting ?? routingOfProxy(config.upstreamUrl!, config.upstreamMasterKey),
    envelopes: createEnvelopes(config),
    egress: createEgress({ allowPrivate: config.webhookAllowPrivate }),
  });
  const { app, close } = await createPlatform({
    config,
    orm: db.orm,
    services,
    clock,
    log,
    registry,
    signals,
    socketBounds,
    // Otherwise each test would wait for connections that its client keeps.
    bounds: { restMs: 0, ...bounds },
    ready: () => schemaIsCurrent(db.orm),
    web: web === undefined ? loadWebBuild() : (web ?? undefined),
  });
  const address = await app.listen({ host: '127.0.0.1', port });
  return {
    url: address,
    app,
    config,
    services,
    log,
    async close() {
      await Promise.all([close(), playground.stop()]);
      http.destroy();
      await signals.stop();
    },
  };
}
