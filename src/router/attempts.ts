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
/** Accounts share connections that have been idle this long: some nodes serve few connections at a time. */
const SHARED_AFTER_MS = 250;

/** Calls nodes. */
export interface Attempts {
  /** Starts one call to one node; the answer goes to `sink`. */
  attempt(
    deployment: Deployment,
    request: ProxyRequest,
    fields: BoundFields,
    timeouts: CallTimeouts,
    sink: RouterSink,
    onLeaving: () => void,
  ): Attempt;
  /** Whether a node answers a probe within `timeoutMs`, see probe.ts. Never rejects. */
  probe(deployment: Deployment, path: string | undefined, timeoutMs: number): Promise<boolean>;
  /** Closes connections to nodes that none of these deployments uses, once their calls in flight have ended. */
  retain(deployments: readonly Deployment[]): void;
  close(): void;
}

/** What all requests to one deployment share. */
interface RequestTemplate {
  client: UpstreamClient;
  /** Path and query of a call. */
  pathOf(path: string): string;
  model: Buffer;
  headers: Record<'whole' | 'stream', Readonly<Record<string, string>>>;
}

const originOf = (deployment: Deployment): string => new URL(deployment.node.read().apiBase).origin;

/** `memory` bounds large answers; `mask` hides the operator's addresses, keys and names in the messages of refusals. */
export function createAttempts(memory: AnswerMemory, json: JsonReader, mask: MessageMask): Attempts {
  /** By origin, since one node may serve several paths. */
  const clients = new Map<string, UpstreamClient>();
  let retired: UpstreamClient[] = [];
  const templates = new WeakMap<Deployment, RequestTemplate>();

  const clientFor = (origin: string): UpstreamClient => {
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
  const templateFor = (deployment: Deployment): RequestTemplate => {
    let template = templates.get(deployment);
    if (!template) {
      const { apiBase, headers, query, upstreamModel } = deployment.node.read();
      const { origin, pathname } = new URL(apiBase);
      const basePath = withoutEndSlashes(pathname);
      template = {
        client: clientFor(origin),
        pathOf: (path) => `${basePath}${path}${query}`,
        model: modelValue(upstreamModel),
        headers: {
          whole: { accept: 'application/json', ...headers },
          stream: { accept: 'text/event-stream, application/json', ...headers },
        },
      };
      templates.set(deployment, template);
    }
    return template;
  };

  return {
    attempt(deployment, request, fields, timeouts, sink, onLeaving) {
      const { client, pathOf, headers, model } = templateFor(deployment);
      const attempt = new Attempt(deployment, request, timeouts, sink, onLeaving, json, memory, mask);
      const body = request.bound.bodyFor(request.body, fields, request.member, model);
      attempt.start(client, pathOf(request.path), request.stream ? headers.stream : headers.whole, body);
      return attempt;
    },
    probe(deployment, path, timeoutMs) {
      const { client, pathOf, headers } = templateFor(deployment);
      return probe(deployment, path, timeoutMs, (to, body, handler) =>
        client.post(pathOf(to), headers.whole, body, handler).send(),
      );
    },
    retain(deployments) {
      const origins = new Set(deployments.map(originOf));
      retired = retired.filter((client) => !client.unused);
      for (const [origin, client] of clients) {
        if (origins.has(origin)) continue;
        clients.delete(origin);
        client.retire();
        retired.push(client);
      }
    },
    close() {
      for (const client of [...clients.values(), ...retired]) client.destroy();
    },
  };
}
