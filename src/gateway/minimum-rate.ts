import { SlotSet } from '../lib/slot-set.js';

/** A body being received or sent. */
export interface Transfer {
  /** Bytes transferred so far. */
  readonly bodyBytes: number;
}

interface Watched {
  readonly transfer: Transfer;
  /** Bytes transferred at the last check. */
  seen: number;
  /** How far the transfer may still fall behind. */
  allowanceMs: number;
  readonly tooSlow: () => void;
  readonly due: () => number;
}

/** The minimum rate of transfers, and how far a transfer may fall behind. */
export interface MinimumRateBounds {
  bytesPerSecond: number;
  stallMs: number;
  checkIntervalMs: number;
}

const NOTHING_DUE = (): number => 0;

/**
 * Finds transfers that fall behind the minimum rate by more than the allowed time, even if they began fast. Time is counted in timer
 * ticks, which a busy process delays, so that a standstill of the process doesn't count against transfers.
 */
export class MinimumRate {
  readonly #open = new SlotSet<Watched>();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly bounds: MinimumRateBounds) {}

  /**
   * Watches a transfer until the returned function is called, which `tooSlow` must do. `due` returns the bytes that must move within
   * `stallMs` at present, if that is more than the minimum rate.
   */
  watch(transfer: Transfer, tooSlow: () => void, due: () => number = NOTHING_DUE): () => void {
    const watched: Watched = {
      transfer,
      seen: transfer.bodyBytes,
      allowanceMs: this.bounds.stallMs,
      tooSlow,
      due,
    };
    const slot = this.#open.add(watched);
    this.#timer ??= setInterval(() => this.#check(), this.bounds.checkIntervalMs).unref();
    return () => this.#open.delete(slot, watched);
  }

  #check(): void {
    // The next transfer starts the timer again.
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
      watched.allowanceMs = Math.min(stallMs, watched.allowanceMs + gained - checkIntervalMs);
      if (watched.allowanceMs <= 0) watched.tooSlow();
    }
  }
}
