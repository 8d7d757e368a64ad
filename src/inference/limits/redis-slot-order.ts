import { setTimeout as delay } from 'node:timers/promises';
import type { Command, RedisNode } from './redis-node.js';
import { type Redirect, redirectOf, slotOf } from './redis-slots.js';

interface Sent {
  command: Command;
  /** The node that the last reply named. */
  redirect?: Redirect | undefined;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

/** Scripts of one slot that have no answer yet. */
interface Slot {
  unanswered: number;
  isMoving: boolean;
  /** Redirected scripts, in order. */
  redirected: Sent[];
  /** Scripts that came after the first redirect, in order. */
  waiting: Sent[];
}

/** Delay before a script is sent again while its keys are split between two nodes. */
const AGAIN_MS = 5;
/** Limit of tries per script. */
const MOST_TRIES = 40;

/** The nodes of a cluster, by slot and by address. */
export interface Places {
  ownerOf(slot: number): RedisNode;
  /** @throws Error if the owner of a moved slot is unknown */
  nodeAt(address: string, kind: 'moved' | 'ask'): Promise<RedisNode>;
  /** Records a slot's new owner. */
  moved(slot: number, to: RedisNode): void;
}

/**
 * Sends scripts to the node that has their slot, and keeps the scripts of a slot in order while it moves from one node to
 * another: a later report of open amounts must not overtake an earlier one. After the first redirect, the slot's scripts
 * are sent one at a time until none is left.
 */
export class SlotOrder {
  readonly #slots = new Map<number, Slot>();

  constructor(private readonly places: Places) {}

  evaluate<T>(command: Command): Promise<T> {
    const number = slotOf(command.keys[0]!);
    const slot = this.#slots.get(number) ?? { unanswered: 0, isMoving: false, redirected: [], waiting: [] };
    this.#slots.set(number, slot);
    return new Promise<unknown>((resolve, reject) => {
      const sent = { command, resolve, reject };
      if (slot.isMoving) slot.waiting.push(sent);
      else void this.#send(number, slot, sent);
    }) as Promise<T>;
  }

  async #send(number: number, slot: Slot, sent: Sent): Promise<void> {
    slot.unanswered++;
    const owner = this.places.ownerOf(number);
    try {
      sent.resolve(await owner.evaluate(sent.command));
    } catch (error) {
      const redirect = redirectOf(error, owner.address);
      if (redirect) {
        slot.isMoving = true;
        slot.redirected.push({ ...sent, redirect });
      } else {
        sent.reject(error);
      }
    }
    if (--slot.unanswered > 0) return;
    while (slot.isMoving) {
      const next = slot.redirected.shift() ?? slot.waiting.shift();
      if (!next) break;
      await this.#follow(number, next);
    }
    this.#slots.delete(number);
  }

  /** Follows redirects until a node runs the script. */
  async #follow(number: number, { command, redirect, resolve, reject }: Sent): Promise<void> {
    let next = redirect;
    for (let tries = 1; ; tries++) {
      let node: RedisNode | undefined;
      try {
        if (next?.kind === 'again') await delay(AGAIN_MS);
        const elsewhere = next && 'address' in next ? next : undefined;
        node = elsewhere
          ? await this.places.nodeAt(elsewhere.address, elsewhere.kind)
          : this.places.ownerOf(number);
        if (elsewhere?.kind === 'moved') this.places.moved(number, node);
        resolve(await node.evaluate(command, elsewhere?.kind === 'ask'));
        return;
      } catch (error) {
        next = node && redirectOf(error, node.address);
        if (next && tries < MOST_TRIES) continue;
        reject(error);
        return;
      }
    }
  }
}
