import { type Duplex, duplexPair } from 'node:stream';
import { CounterHub } from '../../src/inference/limits/machine/counter-hub.js';
import { CounterLink } from '../../src/inference/limits/machine/counter-link.js';
import { type Clock, systemClock } from '../../src/lib/clock.js';
import { createLogger } from '../../src/lib/logger.js';

export interface TestMachine {
  counter: CounterHub;
  /** The line of one more edge. */
  join(): Promise<TestLink>;
}

/** The line of an edge, and what may happen to it. */
export interface TestLink extends CounterLink {
  /** The counting process answers nothing until `thaw`. */
  freeze(): void;
  thaw(): void;
  /** The edge is killed. */
  die(): void;
}

/** The process that counts for all edges of a machine, without processes. */
export function createTestMachine(options: { clock?: Clock; patienceMs?: number } = {}): TestMachine {
  const counter = new CounterHub(options.clock ?? systemClock, createLogger('edges', 'silent'));
  return {
    counter,
    async join() {
      const [ours, theirs] = duplexPair() as [Duplex, Duplex];
      counter.join(theirs);
      // Longer than any machine is busy.
      const link = new CounterLink(ours, options.patienceMs ?? 10_000);
      await link.ready;
      return Object.assign(link, {
        freeze: () => void theirs.pause(),
        thaw: () => void theirs.resume(),
        die: () => {
          ours.destroy();
          theirs.destroy();
        },
      });
    },
  };
}
