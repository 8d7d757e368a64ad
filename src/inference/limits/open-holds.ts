import { SlotSet } from '../../lib/slot-set.js';
import type { Admission } from './limits.js';

/** Every hold of this process, so that one that nobody settles is found. */
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

  /**
   * Holds past their deadline. A stream that is being answered has none: what it may last is bounded by the
   * upstream's and the reader's idle times.
   */
  leaked(now: number): Admission[] {
    const found: Admission[] = [];
    for (const admission of this.#open) {
      const { caller } = admission;
      if (now > admission.deadline && (caller.destroyed || !caller.headersSent)) found.push(admission);
    }
    return found;
  }
}
