import { type Command, RedisNode } from './redis-node.js';
import { SlotOrder } from './redis-slot-order.js';
import { SLOTS, type SlotRange, slotRanges } from './redis-slots.js';

/** Several plain servers are listed: each edge would choose a different one, and count separately. */
export class NotAClusterError extends Error {
  constructor() {
    super(
      'REDIS_URL lists several servers, but this one is not a node of a cluster; list one server, or nodes of one cluster',
    );
  }
}

/**
 * Connections to one Redis, or to every node of a cluster that owns slots. When one ends, all end: the data of a lost node may
 * be lost, and the breaker makes every edge report its open amounts again.
 */
export class RedisSession {
  readonly #nodes = new Map<string, RedisNode>();
  readonly #first: RedisNode;
  readonly #owners = new Array<RedisNode>(SLOTS);
  #order: SlotOrder | undefined;
  #isOver = false;

  constructor(
    private readonly url: string,
    /** Whether `REDIS_URL` lists more: a list may only hold nodes of one cluster. */
    private readonly isOneOfSeveral: boolean,
    private readonly onLost: () => void,
  ) {
    const { hostname, port } = new URL(url);
    this.#first = this.#open(`${hostname}:${port || 6379}`, url);
  }

  /** Whether a script may only touch keys of one hash tag. */
  get isCluster(): boolean {
    return this.#order !== undefined;
  }

  /** Addresses of all nodes: each can describe the cluster. */
  get urls(): string[] {
    return [...this.#nodes.keys()].map((address) => this.#urlOf(address));
  }

  /** Resolves when every node has loaded every script. */
  async ready(): Promise<void> {
    const { isCluster } = await this.#first.ready;
    if (!isCluster && this.isOneOfSeveral) throw new NotAClusterError();
    if (!isCluster) return;
    const ranges = slotRanges(await this.#first.slots(), this.#first.address);
    const covered = ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0);
    if (covered < SLOTS) throw new Error('the cluster has slots that no node serves');
    for (const { first, last, owner } of ranges)
      this.#owners.fill(await this.#nodeAt(owner), first, last + 1);
    this.#leaveFirst();
    await this.agree();
    this.#order = new SlotOrder({
      ownerOf: (slot) => this.#owners[slot]!,
      nodeAt: (address, kind) => (kind === 'moved' ? this.#knownAt(address) : this.#nodeAt(address)),
      moved: (slot, to) => {
        this.#owners[slot] = to;
      },
    });
  }

  evaluate<T>(command: Command): Promise<T> {
    return this.#order ? this.#order.evaluate(command) : this.#first.evaluate(command);
  }

  /**
   * Checks that every node answers on its original connection, after everything sent before, and names only slot owners
   * that this session is connected to. Then no node has restarted or been replaced by its copy. Otherwise the session ends.
   * @throws Error if the session has ended
   */
  async agree(): Promise<void> {
    const views = await Promise.all(
      [...this.#nodes.values()].map(async (node) => slotRanges(await node.slots(), node.address)),
    );
    const isStranger = ({ owner }: SlotRange): boolean => !this.#nodes.has(owner);
    if (!views.flat().some(isStranger)) return;
    this.close();
    throw new Error('the cluster has other nodes than before');
  }

  close(): void {
    this.#over();
  }

  /**
   * The new owner of a slot. An unknown owner ends the session: it may be a copy that has replaced a lost node and lacks
   * the latest writes. When slots are moved on purpose, the new owner is known from ASK.
   * @throws Error if the owner is unknown
   */
  async #knownAt(address: string): Promise<RedisNode> {
    if (this.#nodes.has(address)) return this.#nodeAt(address);
    this.close();
    throw new Error('a slot has moved to an unknown node');
  }

  async #nodeAt(address: string): Promise<RedisNode> {
    const node = this.#nodes.get(address) ?? this.#open(address, this.#urlOf(address));
    await node.ready;
    return node;
  }

  #open(address: string, url: string): RedisNode {
    const node: RedisNode = new RedisNode(address, url, () => {
      if (this.#nodes.get(address) === node) this.#over();
    });
    this.#nodes.set(address, node);
    if (this.#isOver) node.close();
    return node;
  }

  /** Closes the first connection if its node owns no slots, or if the cluster uses another address for that node. */
  #leaveFirst(): void {
    const { address } = this.#first;
    if (this.#owners.includes(this.#first)) return;
    this.#nodes.delete(address);
    this.#first.close();
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const node of this.#nodes.values()) node.close();
    this.onLost();
  }

  /** The same user, password and encryption at every node. */
  #urlOf(address: string): string {
    const url = new URL(this.url);
    const colon = address.lastIndexOf(':');
    const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
    url.host = `${host.includes(':') ? `[${host}]` : host}:${address.slice(colon + 1)}`;
    return url.href;
  }
}
