import { AppError } from '../errors.js';
import type { Clock } from './clock.js';

const MINUTE_MS = 60_000;
/** Of one network a minute: IPv4 address and /24, or IPv6 /64, /56 and /48. */
const PER_MINUTE = [600, 1_200, 2_400];
/** Number of networks counted separately; later ones in the same minute share one count. */
const MOST_NETWORKS = 50_000;
const REST = 'rest';

/** Bounds what strangers may take of one process in a minute, by the networks that they call from (lib/network.ts). */
export class NetworkBudget {
  #minute = 0;
  readonly #counts = new Map<string, number>();

  constructor(
    private readonly clock: Clock,
    private readonly message: string,
  ) {}

  /**
   * Counts units; the last ones of a minute may be more than are left.
   * @throws AppError `rate_limit_exceeded` once a network of the caller has had its share.
   */
  spend(networks: readonly string[], units = 1): void {
    this.require(networks);
    this.count(networks, units);
  }

  /** @throws AppError `rate_limit_exceeded` */
  require(networks: readonly string[]): void {
    const now = this.#begin();
    if (!this.#isSpent(networks)) return;
    throw new AppError('rate_limit_exceeded', {
      message: this.message,
      retryAfterSeconds: ((this.#minute + 1) * MINUTE_MS - now) / 1000,
    });
  }

  count(networks: readonly string[], units = 1): void {
    this.#begin();
    for (const name of networks.map((network) => this.#known(network)))
      this.#counts.set(name, (this.#counts.get(name) ?? 0) + units);
  }

  #isSpent(networks: readonly string[]): boolean {
    return networks.some((name, width) => (this.#counts.get(this.#known(name)) ?? 0) >= PER_MINUTE[width]!);
  }

  /** @returns the time, in a minute that has begun anew where it is another. */
  #begin(): number {
    const now = this.clock.now();
    const minute = Math.floor(now / MINUTE_MS);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#counts.clear();
    }
    return now;
  }

  #known(name: string): string {
    return this.#counts.has(name) || this.#counts.size < MOST_NETWORKS ? name : REST;
  }
}
