import { SlotSet } from './slot-set.js';

/** A body on its way in or out. */
export interface Transfer {
  /** Bytes that have moved so far. */
  readonly bodyBytes: number;
}

interface Watched {
  readonly transfer: Transfer;
  /** Bytes that had moved when it was last looked at. */
  seen: number;
  patienceMs: number;
  readonly tooSlow: () => void;
  readonly due: () => number;
}

/** The least rate of transfers, and how far one may fall behind. */
export interface MinimumRateBounds {
  bytesPerSecond: number;
  stallMs: number;
  checkIntervalMs: number;
}

const NOTHING_DUE = (): number => 0;

/**
 * Finds transfers that fall behind the least rate by more than the allowed time, however fast they began. Looked at by
 * ticks, which a busy process delays: time in which it did nothing doesn't count against anyone.
 */
export class MinimumRate {
  readonly #open = new SlotSet<Watched>();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly bounds: MinimumRateBounds) {}

  /**
   * Watches a transfer until the returned function is called, which `tooSlow` must do. `due` gives the bytes that have to
   * move within `stallMs` at the moment, where that is more than the least rate.
   */
  watch(transfer: Transfer, tooSlow: () => void, due: () => number = NOTHING_DUE): () => void {
    const watched: Watched = {
      transfer,
      seen: transfer.bodyBytes,
      patienceMs: this.bounds.stallMs,
      tooSlow,
      due,
    };
    const slot = this.#open.add(watched);
    this.#timer ??= setInterval(() => this.#look(), this.bounds.checkIntervalMs).unref();
    return () => this.#open.delete(slot, watched);
  }

  #look(): void {
    // Started again by the next transfer: nothing has to stop it.
    if (this.#open.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const { bytesPerSecond, stallMs, checkIntervalMs } = this.bounds;
    for (const watched of this.#open) {
      const { bodyBytes } = watched.transfer;
      const bytesPerMs = Math.max(bytesPerSecond / 1_000, watched.due() / stallMs);
      const gained = (bodyBytes - watched.seen) / bytesPerMs;
      watched.seen = bodyBytes;
      watched.patienceMs = Math.min(stallMs, watched.patienceMs + gained - checkIntervalMs);
      if (watched.patienceMs <= 0) watched.tooSlow();
    }
  }
}
