/** Whether a deployment gets calls: never, only if no other deployment can take them, or always. */
export type Availability = 'closed' | 'avoided' | 'open';

/** One host and port, shared by all deployments there. */
export class Host {
  /** What the node registry wants; `open` without a registered node. */
  intent: Availability = 'open';
  /** Whether the registry has a node at this host and port that affects routing. */
  governed = false;
  /** The node registered here last. */
  nodeId: string | undefined;
  /** Calls in flight from other processes, by their last reports. */
  elsewhere = 0;
  #inFlight = 0;

  constructor(private readonly onIdle: () => void) {}

  /** Calls in flight from this process. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Calls in flight from all processes. */
  get calls(): number {
    return this.#inFlight + this.elsewhere;
  }

  enter(): void {
    this.#inFlight++;
  }

  leave(): void {
    if (--this.#inFlight === 0 && this.intent === 'closed') this.onIdle();
  }
}

/** A node that came back opens after this long without a failure, even if it gets no calls. */
const HALF_OPEN_MS = 3_000;

type Phase = 'open' | 'warming' | 'half_open';

/**
 * Limits the calls to a deployment by the state of its node. A node that comes back must answer a probe first (`warming`), then
 * takes one call at a time until it answers one (`half_open`). All times are milliseconds of a `ProxyTime`.
 */
export class Gate {
  #phase: Phase = 'open';
  #halfOpenSince = 0;
  #busy = 0;

  constructor(readonly host: Host) {}

  /** Whether it waits for the answer to a probe. */
  get warming(): boolean {
    return this.#phase === 'warming';
  }

  /** `unproven`: it has failed and hasn't answered since, so it gets one call at a time. */
  availability(now: number, unproven: boolean): Availability {
    const { intent } = this.host;
    if (intent !== 'open') return intent;
    if (this.#phase === 'warming') return 'avoided';
    if (this.#phase === 'half_open' && now - this.#halfOpenSince >= HALF_OPEN_MS) this.#phase = 'open';
    const oneAtATime = unproven || this.#phase === 'half_open';
    return oneAtATime && this.#busy > 0 ? 'avoided' : 'open';
  }

  /** Waits for the answer to a probe: its node came back. */
  warm(): void {
    this.#phase = 'warming';
  }

  /** Half-opens after an answered probe. */
  admit(now: number): void {
    if (this.#phase !== 'warming') return;
    this.#phase = 'half_open';
    this.#halfOpenSince = now;
  }

  enter(): void {
    this.#busy++;
    this.host.enter();
  }

  /** Notes that bytes of an answer have arrived. */
  answered(): void {
    if (this.#phase === 'half_open') this.#phase = 'open';
  }

  /** Notes the end of a call. @returns Whether it must answer a probe again before it gets calls. */
  leave(failed: boolean): boolean {
    this.#busy--;
    this.host.leave();
    if (this.#phase !== 'half_open') return false;
    this.#phase = failed ? 'warming' : 'open';
    return failed;
  }
}
