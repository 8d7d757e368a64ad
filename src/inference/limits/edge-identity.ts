import { newId } from '../../lib/ids.js';

/**
 * Who this edge is to the others: the name of its spool's folder, and of what it has open in Redis. Whoever adopts the
 * spool of a dead edge so knows whose holds are to be released.
 */
export class EdgeIdentity {
  readonly id = newId();
  #listener: (ids: readonly string[]) => void = () => undefined;

  /** Called with the edges that are dead and whose spools are committed. */
  onReplaced(listener: (ids: readonly string[]) => void): void {
    this.#listener = listener;
  }

  replaced(ids: readonly string[]): void {
    this.#listener(ids);
  }
}
