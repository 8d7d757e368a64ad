import { SlotSet } from '../../lib/slot-set.js';
import type { Admission } from './limits.js';

/** Every hold of this process, to find those that are never settled. */
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

  /** Holds past their deadline. A stream in progress has none: the idle times of upstream and reader limit it. */
  leaked(now: number): Admission[] {
    const found: Admission[] = [];
    for (const admission of this.#open) {
      const { caller } = admission;
      if (now > admission.deadline && (caller.destroyed || !caller.headersSent)) found.push(admission);
    }
    return found;
  }
}
