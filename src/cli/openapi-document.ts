import { loadConfig } from '../config.js';
import { openOrm } from '../db/orm.js';
import { systemClock } from '../lib/clock.js';
import { createEgress } from '../lib/egress/egress.js';
import { JsonReader } from '../lib/json-reader.js';
import { createLogger } from '../lib/logger.js';
import { GENERAL_MASK } from '../lib/message-mask.js';
import { createRegistry } from '../lib/metrics.js';
import { WorkerThread } from '../lib/worker-thread.js';
import { createPlatform, type Platform } from '../platform/app.js';
import { createPasswords } from '../services/accounts/passwords.js';
import { createPseudonyms } from '../services/accounts/pseudonyms.rules.js';
import { createEnvelopes } from '../services/envelopes.js';
import { createVirtualKeyClient } from '../services/keys/virtual-keys.js';
import { createSignalBoard } from '../services/live/signals.js';
import { openPlayground } from '../services/playground/open-playground.js';
import { createServices } from '../services.js';

/** An address that is never called: the platform is built only to read its routes. */
const NOWHERE = 'http://127.0.0.1:9';
const SECRET = 'only-for-a-platform-that-never-listens';
const notCalled = (): never => {
  throw new Error('this platform is only built to read its routes');
};

/** Builds the platform without starting it and passes it to `inspect`. Makes no connection. */
export async function inspectPlatform<T>(inspect: (platform: Platform) => T): Promise<T> {
  const environment = {
    DATABASE_URL: 'postgres://127.0.0.1:9/nowhere',
    UPSTREAM_URL: NOWHERE,
    UPSTREAM_MASTER_KEY: SECRET,
    JWT_SECRET: SECRET,
    ENCRYPTION_KEY: SECRET,
    WEBHOOK_SECRET: SECRET,
  };
  const config = loadConfig(environment, 'platform');
  const orm = openOrm({ databaseUrl: config.databaseUrl!, processName: 'openapi' });
  const signals = createSignalBoard();
  const log = createLogger('openapi', 'silent');
  const registry = createRegistry('openapi');
  const em = () => orm.em.fork();
  const json = new JsonReader(new WorkerThread(log));
  const upstream = { mask: GENERAL_MASK, call: notCalled };
  const playground = openPlayground({
    config,
    clock: systemClock,
    log,
    registry,
    json,
    signals,
    em,
    upstream,
  });
  const services = createServices({
    config,
    clock: systemClock,
    playground,
    envelopes: createEnvelopes(config),
    passwords: createPasswords(config.passwordHashing),
    pseudonyms: createPseudonyms(Buffer.from(SECRET)),
    virtualKeys: createVirtualKeyClient({ url: NOWHERE, masterKey: SECRET }),
    modelRoutes: { simulated: () => [] },
    askRouting: notCalled,
    signals,
    egress: createEgress({ allowPrivate: config.webhookAllowPrivate }),
  });
  const platform = await createPlatform({
    config,
    orm,
    services,
    clock: systemClock,
    log,
    registry,
    signals,
    ready: async () => false,
  });
  try {
    await platform.app.ready();
    return inspect(platform);
  } finally {
    await platform.close();
    await playground.stop();
    await orm.close(true);
  }
}

/** The platform's OpenAPI document: the same text for the same routes, as committed. */
export const openApiText = (): Promise<string> =>
  inspectPlatform(({ app }) => `${JSON.stringify(app.swagger(), null, 2)}\n`);
