import { endpointKey } from '../lib/endpoint-key.js';
import { Host, type HostIntent } from './node-gate.js';

/** The fields of a registered node that routing uses. */
export interface SteeringNode {
  id: string;
  endpointKey: string;
  status: string;
  healthStatus: string;
  keptInRouting: boolean;
  /** Whether it has ever sent a heartbeat: until then its health says nothing. */
  heard: boolean;
  /** When it was registered, in milliseconds. */
  registeredAt: number;
  /** Calls there from other processes, by their last reports. */
  elsewhere: number;
}

/**
 * How routing treats a host and port. An administrator's setting counts, whatever else is registered. One node that
 * is heard is enough: an older entry of the same machine gets no heartbeats any more. Undefined: they say nothing.
 */
function wantedOf(nodes: readonly SteeringNode[]): HostIntent | undefined {
  if (nodes.some(({ status }) => status !== 'active')) return 'closed';
  const heard = nodes.filter((node) => node.heard);
  if (heard.length === 0) return undefined;
  return heard.some((node) => node.healthStatus === 'healthy' || node.keptInRouting) ? 'open' : 'avoided';
}

/** Every host and port that deployments have, with what the node registry wants of it. */
export class HostRegistry {
  readonly #sites = new Map<string, Host>();
  /** False before the first reading: until then, no node counts as back. */
  #steered = false;

  /** `onIdle` is called when the last call to a closed site ends. */
  constructor(private readonly onIdle: () => void) {}

  /** Of a deployment's address. */
  at(apiBase: string): Host {
    return this.#of(endpointKey(apiBase));
  }

  /** Calls under way at a host and port. */
  inFlight(key: string): number {
    return this.#sites.get(key)?.inFlight ?? 0;
  }

  /** Applies a new reading of the registry. @returns The sites whose node is back, and must show that it serves. */
  steer(nodes: readonly SteeringNode[]): ReadonlySet<Host> {
    const byKey = Map.groupBy(nodes, (node) => node.endpointKey);
    const back = new Set<Host>();
    for (const key of byKey.keys()) this.#of(key);
    for (const [key, site] of this.#sites) {
      const here = byKey.get(key) ?? [];
      const newest = here.toSorted((a, b) => b.registeredAt - a.registeredAt)[0];
      site.nodeId = newest?.id;
      site.elsewhere = newest?.elsewhere ?? 0;
      const wanted = wantedOf(here);
      const wasOpen = site.governed && site.wanted === 'open';
      site.governed = wanted !== undefined;
      site.wanted = wanted ?? 'open';
      if (this.#steered && wanted === 'open' && !wasOpen) back.add(site);
    }
    this.#steered = true;
    return back;
  }

  #of(key: string): Host {
    let site = this.#sites.get(key);
    if (!site) {
      site = new Host(this.onIdle);
      this.#sites.set(key, site);
    }
    return site;
  }
}
