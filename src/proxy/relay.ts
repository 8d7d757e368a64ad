import type { ServerResponse } from 'node:http';
import { Pool } from 'undici';
import { replaceValues } from '../lib/json-scan.js';
import { withoutEndSlashes } from '../lib/trim-end.js';
import { Turns } from '../lib/turns.js';
import { Attempt, type TakeTurns } from './attempt.js';
import { nodeConnector } from './node-connector.js';
import { probe } from './probe.js';
import type { Asked } from './request.js';
import { modelValue } from './restamp.js';
import type { Deployment } from './routing.js';

const CONNECT_TIMEOUT_MS = 5_000;

export interface NodeTimeouts {
  /** Milliseconds to the first byte. */
  firstByteMs: number;
  /** Milliseconds without a byte. */
  idleMs: number;
}

/** Calls nodes. */
export interface Relay {
  /** Begins one call to one node; what comes back goes to `response`. */
  attempt(
    deployment: Deployment,
    asked: Asked,
    timeouts: NodeTimeouts,
    response: ServerResponse,
    onLeaving: () => void,
  ): Attempt;
  /** Whether a node serves, as a small call of our own finds in that time: see probe.ts. Never rejects. */
  probe(deployment: Deployment, path: string | undefined, timeoutMs: number): Promise<boolean>;
  /** Lets go of nodes that none of these deployments has; calls in flight to them end first. */
  retain(deployments: readonly Deployment[]): void;
  close(): Promise<void>;
}

/** What every request to a deployment has in common. */
interface Wire {
  pool: Pool;
  basePath: string;
  model: Buffer;
  headers: { whole: Record<string, string>; stream: Record<string, string> };
}

const originOf = (deployment: Deployment): string => new URL(deployment.apiBase).origin;

function headersFor({ apiKey }: Deployment, accept: string): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept,
    'accept-encoding': 'identity',
  };
  if (apiKey !== undefined) headers.authorization = `Bearer ${apiKey}`;
  return headers;
}

/** `ownerOf` says by the header of a call whose it is. */
export function createRelay(ownerOf: (authorization: string | undefined) => string): Relay {
  const turns = new Turns();
  const takeTurns: TakeTurns = ({ authorization }, work, end) =>
    turns.take(ownerOf(authorization), work, end);
  const pools = new Map<string, Pool>();
  const leaving = new Set<Pool>();
  const wires = new WeakMap<Deployment, Wire>();

  const poolOf = (origin: string): Pool => {
    let pool = pools.get(origin);
    if (!pool) {
      // A stream holds its connection: a bounded pool would queue calls behind it.
      pool = new Pool(origin, {
        connections: null,
        pipelining: 1,
        connect: nodeConnector(CONNECT_TIMEOUT_MS),
      });
      pools.set(origin, pool);
    }
    return pool;
  };
  const wireOf = (deployment: Deployment): Wire => {
    let wire = wires.get(deployment);
    if (!wire) {
      const { origin, pathname } = new URL(deployment.apiBase);
      wire = {
        pool: poolOf(origin),
        basePath: withoutEndSlashes(pathname),
        model: modelValue(deployment.upstreamModel),
        headers: {
          whole: headersFor(deployment, 'application/json'),
          stream: headersFor(deployment, 'text/event-stream, application/json'),
        },
      };
      wires.set(deployment, wire);
    }
    return wire;
  };

  return {
    attempt(deployment, asked, { firstByteMs, idleMs }, response, onLeaving) {
      const wire = wireOf(deployment);
      const attempt = new Attempt(deployment, asked, response, onLeaving, takeTurns);
      const path = wire.basePath + asked.path;
      const headers = asked.stream ? wire.headers.stream : wire.headers.whole;
      const body = replaceValues(asked.body, [asked.member], wire.model);
      wire.pool.dispatch(
        { method: 'POST', path, headers, body, headersTimeout: firstByteMs, bodyTimeout: idleMs },
        attempt,
      );
      return attempt;
    },
    probe(deployment, path, timeoutMs) {
      const { pool, basePath, headers } = wireOf(deployment);
      const signal = AbortSignal.timeout(timeoutMs);
      return probe(deployment, path, (to, body) =>
        pool.request({ method: 'POST', path: basePath + to, headers: headers.whole, body, signal }),
      );
    },
    retain(deployments) {
      const origins = new Set(deployments.map(originOf));
      for (const [origin, pool] of pools) {
        if (origins.has(origin)) continue;
        pools.delete(origin);
        leaving.add(pool);
        pool.close().then(
          () => leaving.delete(pool),
          () => leaving.delete(pool),
        );
      }
    },
    async close() {
      await Promise.all([...pools.values(), ...leaving].map((pool) => pool.destroy()));
    },
  };
}
