import { routes } from '../proxy/routes.js';
import { startTestEdge, type TestEdge } from './edge.js';
import type { EdgeSuite } from './edge-suite.js';
import { startTestProxy, type TestProxy } from './proxy.js';

export interface BehindProxy {
  readonly proxy: TestProxy;
  readonly edge: TestEdge;
}

/** Gives a suite a model proxy that tries its upstream once, and an edge that uses it; closes both at its end. */
export function useEdgeBehindProxy(suite: EdgeSuite): BehindProxy {
  const path = {} as { proxy: TestProxy; edge: TestEdge };
  beforeAll(async () => {
    path.proxy = await startTestProxy(suite.db, {
      config: routes([{ model: 'gateway/fast', id: 'node', url: suite.upstream.url }]),
      settings: { numRetries: 0, allowedFails: 1_000 },
    });
    path.edge = await startTestEdge(suite.db, { upstreamUrl: path.proxy.url });
  });
  afterAll(async () => {
    await path.edge?.close();
    await path.proxy?.close();
  });
  return path;
}
