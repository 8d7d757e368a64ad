/** What its node's state means for a deployment: no calls at all, calls when no other can take them, calls. */
export type HostIntent = 'closed' | 'avoided' | 'open';

/** One host and port, with every deployment there. */
export class Host {
  /** As the node registry says; `open` where it says nothing. */
  wanted: HostIntent = 'open';
  /** Whether the registry has a node at this host and port that affects routing. */
  governed = false;
  /** The node that was registered here last. */
  nodeId: string | undefined;
  /** Calls here from other processes that route, by their last reports. */
  elsewhere = 0;
  #inFlight = 0;

  constructor(private readonly onIdle: () => void) {}

  /** Calls under way here. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Calls here from all processes. */
  get calls(): number {
    return this.#inFlight + this.elsewhere;
  }

  enter(): void {
    this.#inFlight++;
  }

  leave(): void {
    if (--this.#inFlight === 0 && this.wanted === 'closed') this.onIdle();
  }
}

/** A node that came back serves everybody after so long without a failure, also if nobody called it. */
const HALF_OPEN_MS = 3_000;

type Phase = 'open' | 'warming' | 'half_open';

/**
 * Lets calls to a deployment as its node allows. One that comes back must answer a small call of our own first (`warming`),
 * then takes one call at a time until one is answered (`half_open`). All times are milliseconds of a `ProxyTime`.
 */
export class Gate {
  #phase: Phase = 'open';
  #halfOpenSince = 0;
  #busy = 0;

  constructor(readonly host: Host) {}

  /** Whether it waits for an answer to a small call of our own. */
  get warming(): boolean {
    return this.#phase === 'warming';
  }

  /** `trying`: it has failed before and hasn't answered since, so that one call at a time is enough to find out. */
  standing(now: number, trying: boolean): HostIntent {
    const { wanted } = this.host;
    if (wanted !== 'open') return wanted;
    if (this.#phase === 'warming') return 'avoided';
    if (this.#phase === 'half_open' && now - this.#halfOpenSince >= HALF_OPEN_MS) this.#phase = 'open';
    const oneAtATime = trying || this.#phase === 'half_open';
    return oneAtATime && this.#busy > 0 ? 'avoided' : 'open';
  }

  /** Its node is back. */
  warm(): void {
    this.#phase = 'warming';
  }

  /** It has answered our small call. */
  admit(now: number): void {
    if (this.#phase !== 'warming') return;
    this.#phase = 'half_open';
    this.#halfOpenSince = now;
  }

  enter(): void {
    this.#busy++;
    this.host.enter();
  }

  /** Bytes of an answer have come. */
  answered(): void {
    if (this.#phase === 'half_open') this.#phase = 'open';
  }

  /** A call is over. @returns Whether it has to be asked again before others call it. */
  leave(failed: boolean): boolean {
    this.#busy--;
    this.host.leave();
    if (this.#phase !== 'half_open') return false;
    this.#phase = failed ? 'warming' : 'open';
    return failed;
  }
}
