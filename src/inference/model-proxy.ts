import { createMessageMask } from '../lib/message-mask.js';
import { UpstreamClient } from '../lib/upstream/client.js';
import { HttpUpstream, type Upstream } from '../lib/upstream/upstream.js';
import { createModelRoutes, type PolledRoutes } from './model-routes.js';

/** A separate model proxy (`UPSTREAM_URL`): `npm run start:proxy`, LiteLLM, or another one with the same interface. */
export interface ModelProxyAccess {
  upstream: Upstream;
  routes: PolledRoutes;
  /** Ends the remaining calls. */
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** How long a call waits for a proxy that refuses connections: it restarts, and nothing has been sent. */
const PATIENCE_MS = 3_000;

export function openModelProxy(upstreamUrl: string, masterKey: string): ModelProxyAccess {
  const url = new URL(upstreamUrl);
  const basePath = url.pathname.replace(/\/$/, '');
  const client = new UpstreamClient({ url, connectTimeoutMs: CONNECT_TIMEOUT_MS, patienceMs: PATIENCE_MS });
  const mask = createMessageMask({ addresses: [upstreamUrl], keys: [masterKey] });
  const upstream = new HttpUpstream(client, basePath, mask);
  const routes = createModelRoutes(url.origin, basePath, masterKey);
  return {
    upstream,
    routes,
    async close() {
      await routes.stop();
      upstream.destroy();
    },
  };
}
