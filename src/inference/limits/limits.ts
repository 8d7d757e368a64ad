import { DOLLAR, type Money } from '../../lib/money.js';
import type { WindowDecision } from '../../lib/sliding-window.js';
import type { Endpoint, FlushResult } from '../../metering/usage-record.js';
import type { CatalogModel } from '../catalog.js';
import type { Payer } from '../payer.js';
import type { InspectedBody } from '../request/request-body.js';
import type { SharedMessages } from './shared-messages.js';

/** The balance floor of `/v1`, $0.001. */
export const BALANCE_FLOOR: Money = DOLLAR / 1000n;
/** A widget stops when its owner's balance reaches 0, so the smallest amount has to be left. */
const WIDGET_FLOOR: Money = 1n;

/** The least that has to be available for a call of this payer. */
export const floorOf = ({ credential }: Payer): Money =>
  credential.kind === 'widget' ? WIDGET_FLOOR : BALANCE_FLOOR;

/** The client that waits for the response, such as Node's ServerResponse. */
export interface ClientConnection {
  /** Whether the connection is closed or the response complete. */
  readonly destroyed: boolean;
  once(event: 'close', listener: () => void): unknown;
  removeListener(event: 'close', listener: () => void): unknown;
}

/** A call and the money that it holds. Callers read `model`, `authorization` and `rate`; the rest belongs to the limits. */
export class Admission {
  /** State of the rate limit when the call was admitted. */
  rate: WindowDecision | undefined;
  /** Whether `hold` counts against the balance and the daily cap. */
  held = false;
  /** Whether Redis kept the rest in reserve, or had lost the state, at the last attempt. Both pass within seconds. */
  isReserved = false;
  /** Whether a chunk of a stream has been sent. From then on, idle timeouts of upstream and reader limit the call. */
  isAnswering = false;
  /** Time in milliseconds after which an unsettled hold counts as leaked. */
  deadline = 0;
  /** Index in `OpenHolds`. */
  slot = -1;

  constructor(
    readonly payer: Payer,
    readonly connection: ClientConnection,
    readonly model: CatalogModel,
    readonly authorization: string,
    /** Upper bound of the cost. */
    readonly hold: Money,
  ) {}
}

/** The client disconnected while its call waited. */
export class CallerGoneError extends Error {}

/**
 * The checks between a known key and the upstream: balance, allow-list, virtual key, daily cap, requests per minute, in
 * this order. Hides whether the counters are in this process or in Redis.
 */
export interface Limits {
  /**
   * Admits a call to an endpoint that its model supports, and takes its hold and its place in the minute. Synchronous if
   * Redis isn't used and the call needn't wait.
   * @throws AdmissionError, or rejects with it; CallerGoneError
   */
  admit(
    payer: Payer,
    body: InspectedBody,
    connection: ClientConnection,
    endpoint: Endpoint,
  ): Admission | Promise<Admission>;
  /**
   * Turns the hold into a charge that waits for its commit; 0n if the call is free. The charge counts in the UTC day of `at`,
   * the milliseconds at which the call ended. If the hold is already gone, only charges.
   */
  settle(admission: Admission, cost: Money, at: number): void;
  /**
   * Counts a charge of the time `at` that a dead process recorded and that a locked account keeps from being committed. It
   * counts here until it is committed, and other edges get it as a charge of this edge. They drop the dead process's charges
   * 10 s after the handover of its spool (`EdgeIdentity`), as with committed charges. Until then the charge counts twice, so
   * that there is no moment in which it doesn't count.
   */
  adoptCharge(payer: Payer, cost: Money, at: number): void;
  /** Removes a charge of the time `at` that couldn't be stored and so will never be committed. */
  writeOff(admission: Admission, cost: Money, at: number): void;
  /** Gives back the hold of a call that is free. */
  release(admission: Admission): void;
  /** Applies the result of a flush. */
  flushed(result: FlushResult): void;
  /** A key without a daily cap got one: the holds of its calls in flight count against the cap. */
  capAdded(payer: Payer): void;
  /** Messages of widgets, counted over all edges; undefined if this edge is the only one. */
  readonly messages: SharedMessages | undefined;
  stop(): Promise<void>;
}

/** Why a call has to wait: other calls hold the rest of the account's balance, or of the key's daily cap. */
export type Blocked = 'balance_held' | 'cap_held';

/** Counts holds, charges and requests, in this process or elsewhere. */
export interface Counters {
  /**
   * Takes both the hold and the place in the minute, or neither. Sets `rate` and `held`.
   * @throws AdmissionError, or rejects with it
   */
  take(admission: Admission): Admission | Blocked | Promise<Admission | Blocked>;
  /** The payer's amounts in this process have changed. */
  changed(payer: Payer): void;
  /** A flush has committed charges of this process. */
  committed(result: FlushResult): void;
  /** Milliseconds after which a blocked call tries again even if no call of this process was settled; undefined: never. */
  readonly pollMs: number | undefined;
  /** How many edges admit calls, including this one. */
  readonly edges: number;
  /** Messages of widgets, counted over all edges; undefined if this edge is the only one. */
  readonly messages: SharedMessages | undefined;
  stop(): Promise<void>;
}
