import type { ServiceContext } from '../context.js';
import { AppError } from '../errors.js';

const MINUTE_MS = 60_000;
/** Requests of one network a minute: IPv4 address and /24, or IPv6 /64, /56 and /48. */
const REQUESTS_PER_MINUTE = [600, 1_200, 2_400];
/** Number of networks counted separately; later ones in the same minute share one count. */
const MOST_NETWORKS = 50_000;
const REST = 'rest';

/** Bounds what callers without a session may ask of one process in a minute. */
export class AnonymousBudget {
  #minute = 0;
  readonly #counts = new Map<string, number>();

  /** Counts one request. @throws AppError `rate_limit_exceeded` once a network of the caller has had its share. */
  spend({ networks, clock }: Pick<ServiceContext, 'networks' | 'clock'>): void {
    const now = clock.now();
    const minute = Math.floor(now / MINUTE_MS);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#counts.clear();
    }
    const names = networks.map((name) => this.#known(name));
    if (names.some((name, width) => (this.#counts.get(name) ?? 0) >= REQUESTS_PER_MINUTE[width]!)) {
      throw new AppError('rate_limit_exceeded', {
        message: 'Too many requests without a session from this network. Try again later.',
        retryAfterSeconds: ((minute + 1) * MINUTE_MS - now) / 1000,
      });
    }
    for (const name of names) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  #known(name: string): string {
    return this.#counts.has(name) || this.#counts.size < MOST_NETWORKS ? name : REST;
  }
}
