import { newId } from '../../lib/ids.js';

/**
 * This edge's id. It names the folder of the edge's spool and the edge's open amounts in Redis, so that an edge that adopts
 * the spool of a dead edge knows whose holds to release.
 */
export class EdgeIdentity {
  readonly id = newId();
  #adopted: (ids: readonly string[]) => void = () => undefined;
  #committed: (ids: readonly string[]) => void = () => undefined;

  /** Called every few seconds with the dead edges whose spools this edge has adopted but can't commit yet. */
  onAdopted(listener: (ids: readonly string[]) => void): void {
    this.#adopted = listener;
  }

  /** Called with the dead edges whose spools are committed, or whose charges count on this edge (`Limits.adoptCharge`). */
  onCommitted(listener: (ids: readonly string[]) => void): void {
    this.#committed = listener;
  }

  notifyAdopted(ids: readonly string[]): void {
    this.#adopted(ids);
  }

  notifyCommitted(ids: readonly string[]): void {
    this.#committed(ids);
  }
}
