import type { NetworkBudget } from '../../../lib/network-budget.js';
import type { CounterLink } from './counter-link.js';

/** Bounds what strangers may take of all edges of this machine together in a minute. */
export class MachineNetworks {
  constructor(
    private readonly own: NetworkBudget,
    private readonly link: CounterLink,
  ) {
    link.onSpent = (minute, networks) => own.exhaust(minute, networks);
  }

  /** @throws AppError `rate_limit_exceeded` once a network of the caller has had its share. */
  require(networks: readonly string[]): void {
    this.own.require(networks);
  }

  count(networks: readonly string[], units = 1): void {
    // Nobody in it is answered before the next minute, so there is nothing more to tell of it.
    const isOver = this.own.isOver(networks);
    this.own.count(networks, units);
    if (networks.length > 0 && !isOver) this.link.tell({ kind: 'refused', networks, units });
  }
}
