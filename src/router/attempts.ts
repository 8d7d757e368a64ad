import type { JsonReader } from '../lib/json-reader.js';
import type { MessageMask } from '../lib/message-mask.js';
import { withoutEndSlashes } from '../lib/trim-end.js';
import { UpstreamClient } from '../lib/upstream/client.js';
import type { CallTimeouts } from '../lib/upstream/upstream-handler.js';
import type { AnswerMemory } from './answer-memory.js';
import { Attempt } from './attempt.js';
import type { BoundFields } from './output-bound.js';
import { probe } from './probe.js';
import type { ProxyRequest } from './request.js';
import { modelValue } from './rewrite-model-name.js';
import type { RouterSink } from './router-sink.js';
import type { Deployment } from './routing.js';

const CONNECT_TIMEOUT_MS = 5_000;
/** Accounts share connections that have rested: some nodes serve few at a time. */
const SHARED_AFTER_MS = 250;

/** Calls nodes. */
export interface Attempts {
  /** Starts one call to one node; the answer goes to `caller`. */
  attempt(
    deployment: Deployment,
    asked: ProxyRequest,
    fields: BoundFields,
    patience: CallTimeouts,
    caller: RouterSink,
    onLeaving: () => void,
  ): Attempt;
  /** Whether a node serves, as a small call of our own finds in that time: see probe.ts. Never rejects. */
  probe(deployment: Deployment, path: string | undefined, timeoutMs: number): Promise<boolean>;
  /** Lets go of nodes that none of these deployments has; calls in flight to them end first. */
  retain(deployments: readonly Deployment[]): void;
  close(): void;
}

/** What every request to a deployment has in common. */
interface Wire {
  client: UpstreamClient;
  basePath: string;
  model: Buffer;
  headers: Record<'whole' | 'stream', Readonly<Record<string, string>>>;
}

const originOf = (deployment: Deployment): string => new URL(deployment.node.read().apiBase).origin;

/** `memory` bounds what large answers take; `mask` hides what is the operator's in refusals. */
export function createAttempts(memory: AnswerMemory, json: JsonReader, mask: MessageMask): Attempts {
  /** By origin: one node may serve under several paths. */
  const clients = new Map<string, UpstreamClient>();
  let leaving: UpstreamClient[] = [];
  const wires = new WeakMap<Deployment, Wire>();

  const clientOf = (origin: string): UpstreamClient => {
    let client = clients.get(origin);
    if (!client) {
      client = new UpstreamClient({
        url: new URL(origin),
        connectTimeoutMs: CONNECT_TIMEOUT_MS,
        sharedAfterMs: SHARED_AFTER_MS,
      });
      clients.set(origin, client);
    }
    return client;
  };
  const wireOf = (deployment: Deployment): Wire => {
    let wire = wires.get(deployment);
    if (!wire) {
      const { apiBase, apiKey, upstreamModel } = deployment.node.read();
      const { origin, pathname } = new URL(apiBase);
      const key = apiKey !== undefined && { authorization: `Bearer ${apiKey}` };
      wire = {
        client: clientOf(origin),
        basePath: withoutEndSlashes(pathname),
        model: modelValue(upstreamModel),
        headers: {
          whole: { accept: 'application/json', ...key },
          stream: { accept: 'text/event-stream, application/json', ...key },
        },
      };
      wires.set(deployment, wire);
    }
    return wire;
  };

  return {
    attempt(deployment, asked, fields, patience, caller, onLeaving) {
      const { client, basePath, headers, model } = wireOf(deployment);
      const attempt = new Attempt(deployment, asked, patience, caller, onLeaving, json, memory, mask);
      const body = asked.bound.bodyFor(asked.body, fields, asked.member, model);
      attempt.start(client, basePath + asked.path, asked.stream ? headers.stream : headers.whole, body);
      return attempt;
    },
    probe(deployment, path, timeoutMs) {
      const { client, basePath, headers } = wireOf(deployment);
      return probe(deployment, path, timeoutMs, (to, body, handler) =>
        client.post(basePath + to, headers.whole, body, handler).send(),
      );
    },
    retain(deployments) {
      const origins = new Set(deployments.map(originOf));
      leaving = leaving.filter((client) => !client.unused);
      for (const [origin, client] of clients) {
        if (origins.has(origin)) continue;
        clients.delete(origin);
        client.retire();
        leaving.push(client);
      }
    },
    close() {
      for (const client of [...clients.values(), ...leaving]) client.destroy();
    },
  };
}
