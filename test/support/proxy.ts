import { createLogger } from '../../src/lib/logger.js';
import { createProxy, type ProxyDeps } from '../../src/proxy/app.js';
import type { TestDatabase } from './database.js';
import { startTestRouter, type TestRouter, type TestRouterOptions } from './router.js';
import { TEST_SECRETS } from './secrets.js';

export interface TestProxy extends TestRouter {
  url: string;
  masterKey: string;
}

export interface TestProxyOptions extends TestRouterOptions {
  bounds?: ProxyDeps['bounds'];
}

/** The router behind HTTP on a free port, in process. */
export async function startTestProxy(db: TestDatabase, options: TestProxyOptions = {}): Promise<TestProxy> {
  const started = await startTestRouter(db, options);
  const { router, keys } = started;
  const masterKey = TEST_SECRETS.UPSTREAM_MASTER_KEY;
  const log = options.log ?? createLogger('proxy', 'silent');
  const bounds = { restMs: 0, ...options.bounds };
  const proxy = createProxy({ ...{ router, keys, masterKey, log, bounds }, drainTimeoutMs: 2_000 });
  const url = await proxy.app.listen({ port: 0, host: '127.0.0.1' });
  return {
    ...started,
    url,
    masterKey,
    async close() {
      await proxy.close();
      await started.close();
    },
  };
}
