import type { EdgeBounds } from '../../src/gateway/edge-bounds.js';
import { WITH_SECRET } from '../nodes/support.js';
import { signUpAdmin } from '../support/admin.js';
import { call, signUp } from '../support/api.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { createTestKey, startTestEdge, type TestEdge, type TestKey } from '../support/edge.js';
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

/** The real edge in front of the real platform in this process, over real HTTP, with a user, an admin and a key. */
export function useHostileSuite(options: { bounds?: Partial<EdgeBounds> } = {}): HostileSuite {
  const suite = {} as { -readonly [K in keyof HostileSuite]: HostileSuite[K] };
  beforeAll(async () => {
    suite.db = await createTestDatabase();
    suite.upstream = await startScriptedUpstream();
    suite.platform = await startTestPlatform(suite.db, {
      env: { ...TEST_SECRETS, ...WITH_SECRET },
      virtualKeys: { generate: async () => 'sk-virtual-of-the-tests', remove: async () => undefined },
    });
    suite.edge = await startTestEdge(suite.db, {
      upstreamUrl: suite.upstream.url,
      platformUrl: suite.platform.url,
      ...options,
    });
    await suite.db.pool.query(`update plans set requests_per_minute = 100000 where id = 'team'`);
    suite.caller = await createTestKey(suite.db, { balance: '1000' });
    suite.user = (await signUp(suite.edge.url)).token;
    suite.admin = (await signUpAdmin({ db: suite.db, url: suite.edge.url })).token;
    const check = await call(suite.edge.url, 'GET', '/api/admin/users', { token: suite.admin });
    if (check.status !== 200) throw new Error(`the admin got ${check.status}`);
  });
  afterAll(async () => {
    await suite.edge?.close();
    await suite.platform?.close();
    await suite.upstream?.close();
    await suite.db?.close();
  });
  return suite;
}
