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

/** The least that has to be available for a call. */
export const floorOf = ({ credential }: Payer): Money =>
  credential.kind === 'widget' ? WIDGET_FLOOR : BALANCE_FLOOR;

/** The client that waits for the answer, such as Node's ServerResponse. */
export interface ClientConnection {
  /** Whether the connection is gone or the answer complete. */
  readonly destroyed: boolean;
  once(event: 'close', listener: () => void): unknown;
  removeListener(event: 'close', listener: () => void): unknown;
}

/** A call and the money that it holds. Everything but `model`, `authorization` and `rate` is the limits' own. */
export class Admission {
  /** State of the rate limit when the call was admitted. */
  rate: WindowDecision | undefined;
  /** Whether `hold` counts against balance and daily cap at the moment. */
  held = false;
  /** Whether Redis kept the rest in reserve, or had lost the state, when this call last asked: both pass within seconds. */
  isReserved = false;
  /** Whether a chunk of a stream has been sent: from then on the idle times of upstream and reader limit the call. */
  isAnswering = false;
  /** Milliseconds by the clock after which an unsettled hold counts as leaked. */
  deadline = 0;
  /** Its place among the open holds. */
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

/** The caller left while it waited for room, so there is no one to answer. */
export class CallerGoneError extends Error {}

/**
 * The checks between a known key and the upstream: balance, allow-list, virtual key, daily cap, requests per minute, in
 * this order. Nothing else depends on whether the counters are in this process or in Redis.
 */
export interface Limits {
  /**
   * Admits a call to an endpoint that its model supports, and takes its hold and its rate slot. Without Redis, and with
   * room, the result is available synchronously.
   * @throws AdmissionError, or rejects with it; CallerGoneError
   */
  admit(
    payer: Payer,
    body: InspectedBody,
    caller: ClientConnection,
    endpoint: Endpoint,
  ): Admission | Promise<Admission>;
  /**
   * Turns the hold into a charge that waits for its commit; 0n for a call that is free. Later calls do nothing. `at`: when the
   * call ended, in milliseconds; the charge counts in its UTC day.
   */
  settle(admission: Admission, cost: Money, at: number): void;
  /**
   * A dead process has recorded a charge of `at`, and a locked account keeps it from being committed: it counts here until it
   * is. Other edges are told, as of a charge of this one. They drop the dead process's charges 10 s after its spool is
   * handed over (`EdgeIdentity`), as with committed charges. Until then both count, so there is no moment in which neither
   * does.
   */
  adoptCharge(payer: Payer, cost: Money, at: number): void;
  /** The charge of `at` could not be kept and will never be committed. */
  writeOff(admission: Admission, cost: Money, at: number): void;
  /** Gives the hold of a call back that is free. */
  release(admission: Admission): void;
  /** Takes over what a commit changed. */
  flushed(result: FlushResult): void;
  /** A daily cap was set for a key that had none: what its calls in flight hold counts against it. */
  capAdded(payer: Payer): void;
  /** Messages of widgets over all edges; undefined where this edge is the only one. */
  readonly messages: SharedMessages | undefined;
  stop(): Promise<void>;
}

/** Why a call must wait: open holds of others take the rest of the account's balance, or of the key's daily cap. */
export type Blocked = 'balance_held' | 'cap_held';

/** Counts holds, charges and requests, in this process or elsewhere. */
export interface Counters {
  /**
   * Takes hold and rate slot, or nothing; sets `rate` and `held`.
   * @throws AdmissionError, or rejects with it
   */
  take(admission: Admission): Admission | Blocked | Promise<Admission | Blocked>;
  /** This process's own state of the key changed. */
  changed(payer: Payer): void;
  /** Reported by a commit of another process's events. */
  committed(result: FlushResult): void;
  /** Milliseconds after which a blocked call tries again even if none of our calls was settled; undefined: never. */
  readonly pollMs: number | undefined;
  /** How many edges admit calls, this one included. */
  readonly edges: number;
  /** Messages of widgets, where others count them too. */
  readonly messages: SharedMessages | undefined;
  stop(): Promise<void>;
}
