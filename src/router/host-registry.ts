import { endpointKey } from '../lib/endpoint-key.js';
import { type Availability, Host } from './node-gate.js';

/** The fields of a registered node that routing uses. */
export interface SteeringNode {
  id: string;
  endpointKey: string;
  status: string;
  healthStatus: string;
  keptInRouting: boolean;
  /** Whether it has ever sent a heartbeat: until then its health is unknown. */
  heard: boolean;
  /** Milliseconds since the epoch. */
  registeredAt: number;
  /** Calls in flight from other processes, by their last reports. */
  elsewhere: number;
}

/**
 * How routing treats a host and port with these nodes; undefined if they don't affect routing. An administrator's setting wins.
 * One healthy node is enough: an older entry of the same machine receives no heartbeats any more.
 */
function intentOf(nodes: readonly SteeringNode[]): Availability | undefined {
  if (nodes.some(({ status }) => status !== 'active')) return 'closed';
  const heard = nodes.filter((node) => node.heard);
  if (heard.length === 0) return undefined;
  return heard.some((node) => node.healthStatus === 'healthy' || node.keptInRouting) ? 'open' : 'avoided';
}

/** The hosts of all deployments, with what the node registry wants of each. */
export class HostRegistry {
  readonly #hosts = new Map<string, Host>();
  /** False until the registry is read for the first time; before that, no node counts as back. */
  #steered = false;

  /** `onIdle` is called when the last call to a closed host ends. */
  constructor(private readonly onIdle: () => void) {}

  /** The host of a deployment's address. */
  at(apiBase: string): Host {
    return this.#of(endpointKey(apiBase));
  }

  /** Calls in flight at a host and port. */
  inFlight(key: string): number {
    return this.#hosts.get(key)?.inFlight ?? 0;
  }

  /** Applies a new reading of the registry. @returns The hosts whose node came back and must answer a probe first. */
  steer(nodes: readonly SteeringNode[]): ReadonlySet<Host> {
    const byKey = Map.groupBy(nodes, (node) => node.endpointKey);
    const back = new Set<Host>();
    for (const key of byKey.keys()) this.#of(key);
    for (const [key, host] of this.#hosts) {
      const here = byKey.get(key) ?? [];
      const newest = here.toSorted((a, b) => b.registeredAt - a.registeredAt)[0];
      host.nodeId = newest?.id;
      host.elsewhere = newest?.elsewhere ?? 0;
      const intent = intentOf(here);
      const wasOpen = host.governed && host.intent === 'open';
      host.governed = intent !== undefined;
      host.intent = intent ?? 'open';
      if (this.#steered && intent === 'open' && !wasOpen) back.add(host);
    }
    this.#steered = true;
    return back;
  }

  #of(key: string): Host {
    let host = this.#hosts.get(key);
    if (!host) {
      host = new Host(this.onIdle);
      this.#hosts.set(key, host);
    }
    return host;
  }
}
