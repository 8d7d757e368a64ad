import type { Money } from '../lib/money.js';

export type Endpoint = 'chat' | 'embeddings';

/** What is known of a call at its admission. Spooled, so that a killed process leaves an `error` event. */
export interface CallIntent {
  /** UUIDv7; also the `x-request-id` and the id of the usage event. */
  id: string;
  /** Time of admission, milliseconds. */
  at: number;
  accountId: string;
  keyId: string | null;
  widgetId: string | null;
  requestedModel: string;
  /** The model that the key's guard moved the call to; null if the requested model ran. */
  movedTo: string | null;
  endpoint: Endpoint;
  stream: boolean;
  /** As the caller sent it. The flush checks that the version belongs to the account. */
  promptVersionId: string | null;
}

/** A call that hasn't finished. */
export interface OpenIntent {
  readonly intent: CallIntent;
  readonly slot: number;
}

/** A finished call, as `usage_events` stores it. */
export interface UsageRecord extends Omit<CallIntent, 'at'> {
  /** Time of completion, milliseconds. Day and month derive from it; retries don't change it. */
  createdAt: number;
  servedModel: string;
  inputTokens: number;
  outputTokens: number;
  /** 1e-12 dollars per token (equal to 1e-6 dollars per million tokens). */
  priceIn: Money;
  priceOut: Money;
  /** tokens × price; 0 for errors. */
  cost: Money;
  latencyMs: number;
  ttftMs: number | null;
  status: 'success' | 'error';
  errorCode: string | null;
  /** Why the call failed, for its owner; null for a success. Contains no prompt and no address of a node. */
  errorMessage: string | null;
  httpStatus: number;
  clientAborted: boolean;
  estimated: boolean;
  anomalous: boolean;
  /** The deployment that answered, or failed last; null if unknown. Internal. */
  deployment: string | null;
  /** The node that ran the call. */
  nodeId: string | null;
  /** Calls in flight on that node when this one began, including this one. */
  nodeCalls: number | null;
}

/** What a committed batch changed, for caches in front of the database. */
export interface FlushResult {
  /** Settled events (committed or dead letters) that counted in this process: its own, and those taken over. */
  own: UsageRecord[];
  accounts: { id: string; balance: Money; seq: bigint }[];
  /** Spend of a key on a UTC day after the batch. */
  keyDays: { keyId: string; day: string; spend: Money }[];
  /** Accounts that have new alert events. */
  alerted: string[];
}

/** Turns finished calls into durable events and exact debits. */
export interface Meter {
  /** Appends an intent to this event-loop turn's write, without waiting. */
  begin(intent: CallIntent): OpenIntent;
  /**
   * Appends the event to this turn's write and calls `written` right after write(2); the caller sends the answer's last
   * byte from there. Passes an error if the event could not be recorded. `opened` is the result of `begin`.
   */
  finish(record: UsageRecord, written: (error?: Error) => void, opened?: OpenIntent): void;
  /**
   * False while the spool can't take events, and at the start until the events of dead processes are counted. Admission
   * then answers `service_unavailable`.
   */
  accepting(): boolean;
  /** Whether the disk of the spool fails: events go through the database alone, and answers wait for their commit. */
  degraded(): boolean;
  /** Events not yet committed, and the age of the oldest in milliseconds. */
  backlog(): { events: number; oldestMs: number };
  /** Waits until all events recorded so far are committed, at most `timeoutMs`. @returns Whether they are. */
  drain(timeoutMs: number): Promise<boolean>;
  /** Commits what the database takes in time and closes; the rest stays in the spool for the next start. */
  stop(): Promise<void>;
}
