import { createMessageMask, type MessageMask } from '../lib/message-mask.js';
import type { SteeringNode } from './host-registry.js';
import type { Routing } from './routing.js';

/** Calls of earlier routings may still end with an error, so the latest facts of earlier routings are kept. */
const MAX_FACTS = 10_000;

/** Facts in the order in which they were last added. */
class Facts {
  readonly #texts = new Set<string>();

  /** Returns whether any text is new. */
  add(texts: Iterable<string>): boolean {
    const before = this.#texts.size;
    let isNew = false;
    for (const text of texts) {
      isNew ||= !this.#texts.has(text);
      this.#texts.delete(text);
      this.#texts.add(text);
    }
    for (const oldest of this.#texts) {
      if (this.#texts.size <= Math.max(MAX_FACTS, before)) break;
      this.#texts.delete(oldest);
    }
    return isNew;
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#texts[Symbol.iterator]();
  }
}

/** `Bearer` alone is no secret, and what tells others that a token follows. */
const withoutScheme = (value: string): string => value.replace(/^(?:Basic|Bearer|Token) +/i, '');

/** Masks addresses, keys and names in messages of nodes: those of current and earlier routing files and registry readings. */
export class NodeMask {
  readonly #addresses = new Facts();
  readonly #keys = new Facts();
  readonly #names = new Facts();
  #groups: ReadonlySet<string> = new Set();
  /** Created at the first refusal after a change. */
  #mask: MessageMask | undefined;

  constructor(routing: Pick<Routing, 'deployments' | 'masterKey'>) {
    this.reload(routing);
  }

  readonly apply: MessageMask = (text, renamed) => {
    this.#mask ??= createMessageMask({
      addresses: this.#addresses,
      keys: this.#keys,
      names: [...this.#names].filter((name) => !this.#groups.has(name)),
    });
    return this.#mask(text, renamed);
  };

  reload({ deployments, masterKey }: Pick<Routing, 'deployments' | 'masterKey'>): void {
    const access = deployments.map(({ node }) => node.read());
    this.#addresses.add(access.map(({ apiBase }) => apiBase));
    this.#keys.add([
      ...access.flatMap(({ apiKey }) => apiKey ?? []),
      ...access.flatMap(({ headers }) => Object.values(headers).map(withoutScheme)),
      ...(masterKey ? [masterKey.read()] : []),
    ]);
    this.#names.add([
      ...access.map(({ upstreamModel }) => upstreamModel),
      ...deployments.map(({ id }) => id),
    ]);
    this.#groups = new Set(deployments.map(({ group }) => group));
    this.#mask = undefined;
  }

  steer(nodes: readonly SteeringNode[]): void {
    if (this.#addresses.add(nodes.map(({ endpointKey }) => `http://${endpointKey}`))) this.#mask = undefined;
  }
}
