import { AppError } from '../../errors.js';
import type { Clock } from '../clock.js';
import { RateBudget } from './rate-budget.js';

/** Units per minute by width of the network: IPv4 address and /24, or IPv6 /64, /56 and /48. */
const PER_MINUTE = [600, 1_200, 2_400];

/** Limits what unknown callers may use of one process, by their networks (lib/network.ts). */
export class NetworkBudget {
  readonly #byWidth = PER_MINUTE.map((most) => new RateBudget(most));

  constructor(
    private readonly clock: Clock,
    private readonly message: string,
  ) {}

  /**
   * Spends units. One call may spend more than are left.
   * @throws AppError `rate_limit_exceeded` if one of the networks has none left.
   */
  spend(networks: readonly string[], units = 1): void {
    this.require(networks);
    this.count(networks, units);
  }

  /** @throws AppError `rate_limit_exceeded` */
  require(networks: readonly string[]): void {
    const now = this.clock.now();
    const waitMs = Math.max(0, ...networks.map((name, width) => this.#byWidth[width]!.waitMs(name, now)));
    if (waitMs > 0) {
      throw new AppError('rate_limit_exceeded', { message: this.message, retryAfterSeconds: waitMs / 1000 });
    }
  }

  count(networks: readonly string[], units = 1): void {
    const now = this.clock.now();
    for (const [width, name] of networks.entries()) this.#byWidth[width]!.spend(name, now, units);
  }
}
