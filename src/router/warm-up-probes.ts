import type { Candidate } from './group.js';
import type { Gate } from './node-gate.js';
import type { ProxyTime } from './time.js';

/** A node that doesn't serve yet is asked again after this. */
const PROBE_AGAIN_MS = 1_000;

export interface WarmUpProbesDeps {
  time: ProxyTime;
  /** Aborted when the process ends. */
  ending: AbortSignal;
}

/** Asks deployments whose node came back, each again after a pause until it answers or its node is gone again. */
export class WarmUpProbes {
  readonly #asking = new Set<Gate>();
  #retired = false;

  /**
   * @param candidates All that are routed: no other is asked.
   * @param onReturn Called when one has answered.
   */
  constructor(
    private readonly deps: WarmUpProbesDeps,
    private readonly candidates: readonly Candidate[],
    private readonly ask: (candidate: Candidate) => Promise<boolean>,
    private readonly onReturn: (candidate: Candidate) => void,
  ) {}

  /** Asks the deployment of a gate, unless it does already. */
  readmit(gate: Gate): void {
    const candidate = this.candidates.find((one) => one.gate === gate);
    if (!candidate || this.#asking.has(gate)) return;
    this.#asking.add(gate);
    void this.#askUntilBack(candidate);
  }

  /** Another one has taken over: it asks no more. */
  retire(): void {
    this.#retired = true;
  }

  async #askUntilBack(candidate: Candidate): Promise<void> {
    const { time, ending } = this.deps;
    const { gate } = candidate;
    while (gate.warming && gate.host.wanted === 'open' && !this.#retired && !ending.aborted) {
      if (await this.ask(candidate)) {
        gate.admit(time.now());
        this.onReturn(candidate);
      } else await time.pause(PROBE_AGAIN_MS, ending).catch(() => undefined);
    }
    this.#asking.delete(gate);
  }
}
