import { SlotSet } from '../../lib/slot-set.js';
import type { Admission } from './limits.js';

/** All open holds of this process, to find those that are never settled. */
export class OpenHolds {
  readonly #open = new SlotSet<Admission>();

  get size(): number {
    return this.#open.size;
  }

  add(admission: Admission): void {
    admission.slot = this.#open.add(admission);
  }

  delete(admission: Admission): void {
    this.#open.delete(admission.slot, admission);
  }

  /** Holds past their deadline. A stream that is being answered has no deadline while its client is connected. */
  leaked(now: number): Admission[] {
    const found: Admission[] = [];
    for (const admission of this.#open) {
      const { connection, deadline, isAnswering } = admission;
      if (now > deadline && (connection.destroyed || !isAnswering)) found.push(admission);
    }
    return found;
  }
}
