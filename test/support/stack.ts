import { randomUUID } from 'node:crypto';
import type { Clock } from '../../src/lib/clock.js';
import { storedVirtualKeys } from '../../src/services/keys/stored-virtual-keys.js';
import { migrateAndSeed } from '../../src/services/startup.js';
import { PASSWORD, type SessionAnswer } from './api.js';
import type { TestDatabase } from './database.js';
import { startTestEdge, type TestEdge } from './edge.js';
import { startTestPlatform, type TestPlatform } from './platform.js';
import { startTestRouter, type TestRouter } from './router.js';
import { type StackCallers, stackCallers } from './stack-callers.js';

export interface TestStack extends StackCallers {
  /** The edge's address, the only public one. */
  url: string;
  router: TestRouter;
  platform: TestPlatform;
  edge: TestEdge;
  /** Waits until every recorded call is committed. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface TestStackOptions {
  /** The edge's. */
  clock?: Clock;
}

/** The whole product in process: the real edge, platform, router and simulator, with one database. */
export async function startTestStack(db: TestDatabase, options: TestStackOptions = {}): Promise<TestStack> {
  // Tests break calls on purpose, which must not take long, or make a deployment cool down that the next call needs.
  const router = await startTestRouter(db, { settings: { retryAfterMs: 20, allowedFails: 1_000 } });
  const adminEmail = `${randomUUID()}@example.com`;
  const platform = await startTestPlatform(db, {
    env: { ADMIN_EMAIL: adminEmail, ADMIN_PASSWORD: PASSWORD },
    upstream: router.upstream,
    virtualKeys: storedVirtualKeys(router.keys),
  });
  const edge = await startTestEdge(db, {
    models: router,
    platformUrl: platform.url,
    ...(options.clock && { clock: options.clock }),
  });
  const { url } = edge;

  const callers = stackCallers(url, async (api) => {
    await migrateAndSeed(db.orm, platform.config, platform.log);
    const credentials = { email: adminEmail, password: PASSWORD };
    return (await api<SessionAnswer>('', 'POST', '/api/auth/login', credentials)).access_token;
  });

  return {
    url,
    router,
    platform,
    edge,
    ...callers,
    settled: edge.settled,
    async close() {
      await edge.close();
      await platform.close();
      await router.close();
    },
  };
}
