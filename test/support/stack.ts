import { randomUUID } from 'node:crypto';
import type { Clock } from '../../src/lib/clock.js';
import { migrateAndSeed } from '../../src/services/startup.js';
import { createVirtualKeyClient } from '../../src/upstream/virtual-keys.js';
import { call, PASSWORD, type SessionAnswer, signUp } from './api.js';
import type { TestDatabase } from './database.js';
import { startTestEdge, type TestEdge } from './edge.js';
import { startTestPlatform, type TestPlatform } from './platform.js';
import { startTestProxy, type TestProxy } from './proxy.js';

export interface StackUser {
  /** Of the session. */
  token: string;
  accountId: string;
  keyId: string;
  /** The secret. */
  key: string;
}

export interface TestStack {
  /** The edge's address: the only one that a customer has. */
  url: string;
  proxy: TestProxy;
  platform: TestPlatform;
  edge: TestEdge;
  /** Signs somebody up and makes a key, all over the edge; an administrator moves the account to `plan`. */
  signUp(plan?: string): Promise<StackUser>;
  /** One call of `/api` over the edge; throws unless it answers 2xx. */
  api<T>(token: string, method: string, path: string, body?: unknown): Promise<T>;
  /** Waits until every recorded call is committed. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface TestStackOptions {
  /** The edge's. */
  clock?: Clock;
}

/** The whole path in process: edge, platform, model proxy and simulator, each the real one, over one database. */
export async function startTestStack(db: TestDatabase, options: TestStackOptions = {}): Promise<TestStack> {
  // Calls are broken on purpose here: that must not take long, nor park what the next call needs.
  const proxy = await startTestProxy(db, { settings: { retryAfterMs: 20, allowedFails: 1_000 } });
  const adminEmail = `${randomUUID()}@example.com`;
  const platform = await startTestPlatform(db, {
    env: { UPSTREAM_URL: proxy.url, ADMIN_EMAIL: adminEmail, ADMIN_PASSWORD: PASSWORD },
    virtualKeys: createVirtualKeyClient({ url: proxy.url, masterKey: proxy.masterKey }),
  });
  const edge = await startTestEdge(db, {
    upstreamUrl: proxy.url,
    platformUrl: platform.url,
    ...(options.clock && { clock: options.clock }),
  });
  const { url } = edge;

  const api = async <T>(token: string, method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await call<T>(url, method, path, { token, body });
    if (answer.status > 299) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    return answer.body;
  };
  const logInAdmin = async (): Promise<string> => {
    await migrateAndSeed(db.orm, platform.config, platform.log);
    const answer = await api<SessionAnswer>('', 'POST', '/api/auth/login', {
      email: adminEmail,
      password: PASSWORD,
    });
    return answer.access_token;
  };
  let admin: Promise<string> | undefined;

  return {
    url,
    proxy,
    platform,
    edge,
    api,
    async signUp(plan = 'team') {
      const { token, user } = await signUp(url);
      if (plan !== 'free') {
        admin ??= logInAdmin();
        await api(await admin, 'PATCH', `/api/admin/users/${user.id}`, { plan });
      }
      const made = await api<{ key: string; api_key: { id: string; has_upstream: boolean } }>(
        token,
        'POST',
        '/api/keys',
        { name: 'of a test' },
      );
      if (!made.api_key.has_upstream) throw new Error('the key has no virtual key');
      return { token, accountId: user.id, keyId: made.api_key.id, key: made.key };
    },
    settled: edge.settled,
    async close() {
      await edge.close();
      await platform.close();
      await proxy.close();
    },
  };
}
