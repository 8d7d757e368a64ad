import { LinkedUpstream } from '../../src/lib/link/linked-upstream.js';
import { UpstreamClient } from '../../src/lib/upstream/client.js';
import type { TestProxy } from './proxy.js';
import { until } from './until.js';

/** The way of an edge to a model proxy, once its link is there. */
export async function linkTo(proxy: Pick<TestProxy, 'url' | 'masterKey'>): Promise<LinkedUpstream> {
  const url = new URL(proxy.url);
  const client = new UpstreamClient({ url, connectTimeoutMs: 5_000 });
  const { masterKey } = proxy;
  const link = new LinkedUpstream({ url, client, basePath: '', masterKey, timeoutMs: 5_000 });
  link.ask();
  await until(() => link.linked, { what: 'the link to the model proxy' });
  return link;
}
