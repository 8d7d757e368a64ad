import type { Candidate } from './group.js';
import type { Gate } from './node-gate.js';
import type { ProxyTime } from './time.js';

/** Pause between two probes. */
const PROBE_AGAIN_MS = 1_000;

export interface WarmUpProbesDeps {
  time: ProxyTime;
  /** Aborted when the process ends. */
  ending: AbortSignal;
}

/** Probes deployments whose node came back, each until it answers or its node is gone again. */
export class WarmUpProbes {
  readonly #probing = new Set<Gate>();
  #retired = false;

  /**
   * @param candidates All routed deployments; no other is probed.
   * @param onReturn Called when one has answered.
   */
  constructor(
    private readonly deps: WarmUpProbesDeps,
    private readonly candidates: readonly Candidate[],
    private readonly probe: (candidate: Candidate) => Promise<boolean>,
    private readonly onReturn: (candidate: Candidate) => void,
  ) {}

  /** Starts probing the deployment of a gate, unless it is being probed already. */
  start(gate: Gate): void {
    const candidate = this.candidates.find((one) => one.gate === gate);
    if (!candidate || this.#probing.has(gate)) return;
    this.#probing.add(gate);
    void this.#probeUntilBack(candidate);
  }

  /** Stops all probing. */
  retire(): void {
    this.#retired = true;
  }

  async #probeUntilBack(candidate: Candidate): Promise<void> {
    const { time, ending } = this.deps;
    const { gate } = candidate;
    while (gate.warming && gate.host.intent === 'open' && !this.#retired && !ending.aborted) {
      if (await this.probe(candidate)) {
        gate.admit(time.now());
        this.onReturn(candidate);
      } else await time.pause(PROBE_AGAIN_MS, ending).catch(() => undefined);
    }
    this.#probing.delete(gate);
  }
}
