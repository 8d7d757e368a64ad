import { SlotSet } from '../lib/slot-set.js';
import type { EdgeBounds } from './edge-bounds.js';

/** A body on its way in. */
export interface Upload {
  /** Bytes that have come so far. */
  readonly bodyBytes: number;
}

interface Watched {
  readonly upload: Upload;
  /** Bytes that had come when it was last looked at. */
  seen: number;
  patienceMs: number;
  readonly tooSlow: () => void;
}

/**
 * Finds uploads that fall behind the least rate by more than the allowed time, however fast they began. Looked at by
 * ticks, which a busy process delays: time in which it did not read doesn't count against anyone.
 */
export class UploadPace {
  readonly #open = new SlotSet<Watched>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly bounds: Pick<EdgeBounds, 'uploadBytesPerSecond' | 'uploadStallMs' | 'checkIntervalMs'>,
  ) {}

  /** Watches an upload until the returned function is called, which `tooSlow` must do. */
  watch(upload: Upload, tooSlow: () => void): () => void {
    const watched: Watched = { upload, seen: 0, patienceMs: this.bounds.uploadStallMs, tooSlow };
    const slot = this.#open.add(watched);
    this.#timer ??= setInterval(() => this.#look(), this.bounds.checkIntervalMs).unref();
    return () => this.#open.delete(slot, watched);
  }

  #look(): void {
    // Started again by the next upload: nothing has to stop it.
    if (this.#open.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const { uploadBytesPerSecond, uploadStallMs, checkIntervalMs } = this.bounds;
    for (const watched of this.#open) {
      const { bodyBytes } = watched.upload;
      const gained = ((bodyBytes - watched.seen) / uploadBytesPerSecond) * 1_000;
      watched.seen = bodyBytes;
      watched.patienceMs = Math.min(uploadStallMs, watched.patienceMs + gained - checkIntervalMs);
      if (watched.patienceMs <= 0) watched.tooSlow();
    }
  }
}
