import type { Socket } from 'node:net';
import type { ResourceLimits } from '../../../src/gateway/resource-limits.js';
import { open, requestText } from '../../hostile/raw.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { startTestEdge, type TestEdge } from '../../support/edge.js';
import { noteEnds } from '../../support/own-sockets.js';
import { type ScriptedUpstream, startScriptedUpstream } from '../../support/scripted-upstream.js';

export interface PassingSuite {
  readonly edge: TestEdge;
  /** Plays the platform. */
  readonly platform: ScriptedUpstream;
  /** Connects as a client behind a trusted proxy, which says whose request it is. */
  client(): Socket;
}

/** An edge in front of a platform that does what a test tells it. It trusts proxies on this machine. */
export function usePassing(bounds: Partial<ResourceLimits> = {}): PassingSuite {
  const suite = {} as { -readonly [Part in keyof PassingSuite]: PassingSuite[Part] };
  let db: TestDatabase;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    db = await createTestDatabase();
    suite.platform = await startScriptedUpstream();
    suite.edge = await startTestEdge(db, {
      upstreamUrl: suite.platform.url,
      platformUrl: suite.platform.url,
      env: { TRUST_PROXY: '127.0.0.1' },
      bounds,
    });
    suite.client = () => {
      const socket = noteEnds(open(suite.edge.url));
      sockets.push(socket);
      return socket;
    };
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  afterAll(async () => {
    await suite.edge?.close();
    await suite.platform?.close();
    await db?.close();
  });
  return suite;
}

/** A request of one client, as a trusted proxy passes it on. */
export const getFrom = (address: string, path: string): string =>
  requestText(`GET ${path}`, [`X-Forwarded-For: ${address}`]);

/** Asks as one client, and gives the answer once it is there. */
export const askAs = (suite: PassingSuite, address: string, path: string): Promise<Response> =>
  fetch(`${suite.edge.url}${path}`, { headers: { 'x-forwarded-for': address } });
