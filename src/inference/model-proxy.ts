import { createMessageMask } from '../lib/message-mask.js';
import { UpstreamClient } from '../lib/upstream/client.js';
import { HttpUpstream, type Upstream } from '../lib/upstream/upstream.js';
import { type AskedRoutes, createModelRoutes } from './model-routes.js';

/** A model proxy of its own (`UPSTREAM_URL`): `npm run start:proxy`, LiteLLM, or another with their interface. */
export interface ModelProxyAccess {
  upstream: Upstream;
  routes: AskedRoutes;
  /** Ends calls that are left. */
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;

export function openModelProxy(upstreamUrl: string, masterKey: string): ModelProxyAccess {
  const url = new URL(upstreamUrl);
  const basePath = url.pathname.replace(/\/$/, '');
  const client = new UpstreamClient({ url, connectTimeoutMs: CONNECT_TIMEOUT_MS });
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
