import type { ResourceLimits } from '../../src/gateway/resource-limits.js';
import { WITH_SECRET } from '../nodes/support.js';
import { signUpAdmin } from '../support/admin.js';
import { call, signUp } from '../support/api.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { createTestKey, startTestEdge, type TestEdge, type TestKey } from '../support/edge.js';
import { oncePerWorker } from '../support/once-per-worker.js';
import { startTestPlatform, type TestPlatform } from '../support/platform.js';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';
import { TEST_SECRETS } from '../support/secrets.js';

export interface HostileSuite {
  readonly db: TestDatabase;
  readonly upstream: ScriptedUpstream;
  readonly platform: TestPlatform;
  readonly edge: TestEdge;
  /** A good key with money. */
  readonly caller: TestKey;
  /** Bearer tokens of the API. */
  readonly user: string;
  readonly admin: string;
}

async function startPlatform() {
  const db = await createTestDatabase();
  const platform = await startTestPlatform(db, {
    env: { ...TEST_SECRETS, ...WITH_SECRET },
    virtualKeys: { generate: async () => 'sk-virtual-of-the-tests', remove: async () => undefined },
  });
  await db.pool.query(`update plans set requests_per_minute = 100000 where id = 'team'`);
  return { db, platform };
}

async function stopPlatform({ db, platform }: Awaited<ReturnType<typeof startPlatform>>): Promise<void> {
  await platform.close();
  await db.close();
}

interface HostileOptions {
  bounds?: Partial<ResourceLimits>;
  /** Platform and database of this file alone: it looks at all rows. */
  own?: true;
}

/**
 * The real edge in front of the real platform in this process, over real HTTP, with a user, an admin and a key. Platform and
 * database are the worker's, the edge is the file's.
 */
export function useHostileSuite({ own, ...options }: HostileOptions = {}): HostileSuite {
  const suite = {} as { -readonly [K in keyof HostileSuite]: HostileSuite[K] };
  beforeAll(async () => {
    const start = own ? startPlatform() : oncePerWorker('hostile platform', startPlatform, stopPlatform);
    Object.assign(suite, await start);
    suite.upstream = await startScriptedUpstream();
    suite.edge = await startTestEdge(suite.db, {
      upstreamUrl: suite.upstream.url,
      platformUrl: suite.platform.url,
      ...options,
    });
    suite.caller = await createTestKey(suite.db, { balance: '1000' });
    suite.user = (await signUp(suite.edge.url)).token;
    suite.admin = (await signUpAdmin({ db: suite.db, url: suite.edge.url })).token;
    const check = await call(suite.edge.url, 'GET', '/api/admin/users', { token: suite.admin });
    if (check.status !== 200) throw new Error(`the admin got ${check.status}`);
  });
  afterAll(async () => {
    await suite.edge?.close();
    await suite.upstream?.close();
    if (own && suite.platform) await stopPlatform(suite);
  });
  return suite;
}
