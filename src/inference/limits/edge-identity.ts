import { newId } from '../../lib/ids.js';

/**
 * This edge's identity for the others: the name of its spool's folder, and of its open amounts in Redis. An edge that
 * adopts the spool of a dead one so knows whose holds to release.
 */
export class EdgeIdentity {
  readonly id = newId();
  #found: (ids: readonly string[]) => void = () => undefined;
  #replaced: (ids: readonly string[]) => void = () => undefined;

  /** Called every few seconds with the edges that are dead and whose spools this edge has, but can't commit yet. */
  onFound(listener: (ids: readonly string[]) => void): void {
    this.#found = listener;
  }

  /** Called with the edges that are dead and whose spools are committed, or count in this edge (`Limits.takeOver`). */
  onReplaced(listener: (ids: readonly string[]) => void): void {
    this.#replaced = listener;
  }

  found(ids: readonly string[]): void {
    this.#found(ids);
  }

  replaced(ids: readonly string[]): void {
    this.#replaced(ids);
  }
}
