import { createMessageMask, type MessageMask } from '../lib/message-mask.js';
import type { Routing } from './routing.js';
import type { SteeringNode } from './sites.js';

/** Masks what the routing file and the node registry say of nodes in the messages that nodes send. */
export class NodeMask {
  #nodes: readonly string[] = [];
  /** Made at the first refusal after a change. */
  #mask: MessageMask | undefined;

  constructor(private routing: Pick<Routing, 'deployments' | 'masterKey'>) {}

  readonly apply: MessageMask = (text, renamed) => {
    this.#mask ??= this.#make();
    return this.#mask(text, renamed);
  };

  reload(routing: Pick<Routing, 'deployments' | 'masterKey'>): void {
    this.routing = routing;
    this.#mask = undefined;
  }

  steer(nodes: readonly SteeringNode[]): void {
    const keys = nodes.map(({ endpointKey }) => endpointKey);
    if (keys.length === this.#nodes.length && keys.every((key, i) => key === this.#nodes[i])) return;
    this.#nodes = keys;
    this.#mask = undefined;
  }

  #make(): MessageMask {
    const { deployments, masterKey } = this.routing;
    const access = deployments.map(({ node }) => node.read());
    return createMessageMask({
      addresses: [...access.map(({ apiBase }) => apiBase), ...this.#nodes.map((key) => `http://${key}`)],
      keys: [...access.flatMap(({ apiKey }) => apiKey ?? []), ...(masterKey ? [masterKey.read()] : [])],
    });
  }
}
