import { createTestDatabase, type TestDatabase } from './database.js';
import { startTestEdge, type TestEdge, type TestEdgeOptions } from './edge.js';
import { type ScriptedUpstream, startScriptedUpstream } from './scripted-upstream.js';

export interface EdgeSuite {
  readonly db: TestDatabase;
  readonly upstream: ScriptedUpstream;
  readonly edge: TestEdge;
}

/** Gives a test file a database, a scripted upstream and an edge between them, closed at its end. */
export function useEdge(options: Partial<TestEdgeOptions> = {}): EdgeSuite {
  const suite = {} as { db: TestDatabase; upstream: ScriptedUpstream; edge: TestEdge };
  beforeAll(async () => {
    suite.db = await createTestDatabase();
    suite.upstream = await startScriptedUpstream();
    suite.edge = await startTestEdge(suite.db, { upstreamUrl: suite.upstream.url, ...options });
  });
  afterAll(async () => {
    await suite.edge?.close();
    await suite.upstream?.close();
    await suite.db?.close();
  });
  return suite;
}
