import type { Money } from '../lib/money.js';

export type Endpoint = 'chat' | 'embeddings';

/** What is known of a call when it is admitted; spooled, so that a kill leaves an `error` event. */
export interface CallIntent {
  /** UUIDv7; `x-request-id` and id of the usage event. */
  id: string;
  /** Admission, milliseconds. */
  at: number;
  accountId: string;
  keyId: string | null;
  widgetId: string | null;
  requestedModel: string;
  /** The model that the key's guard moved the call to; null if it ran on the requested one. */
  movedTo: string | null;
  endpoint: Endpoint;
  stream: boolean;
  /** What the caller named: whether it is the account's is decided when the event is written. */
  promptVersionId: string | null;
}

/** A call that has begun and not finished. */
export interface OpenIntent {
  readonly intent: CallIntent;
  readonly slot: number;
}

/** A finished call, exactly what `usage_events` stores. */
export interface UsageRecord extends Omit<CallIntent, 'at'> {
  /** Completion, milliseconds; kept through every retry of the writing. Day and month derive from it. */
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
  /** Why the call failed, for its owner: no prompt, nothing of the operator's; null for a success. */
  errorMessage: string | null;
  httpStatus: number;
  clientAborted: boolean;
  estimated: boolean;
  anomalous: boolean;
  /** The deployment that answered, or failed last; null if that is unknown. Internal. */
  deployment: string | null;
  /** The node that it ran on. */
  nodeId: string | null;
  /** Calls under way on that node when this one began, itself included. */
  nodeCalls: number | null;
}

/** What a committed batch changed, for caches in front of the database. */
export interface FlushResult {
  /** The events that counted in this process and are settled (committed or set aside): its own, and those taken over. */
  own: UsageRecord[];
  accounts: { id: string; balance: Money; seq: bigint }[];
  /** Spend of a key on a UTC day after the batch. */
  keyDays: { keyId: string; day: string; spend: Money }[];
  /** Accounts that have new alert events. */
  alerted: string[];
}

/** Turns finished calls into durable events and exact debits. */
export interface Meter {
  /** Appends an intent to this event-loop turn's write. Nothing waits for it. */
  begin(intent: CallIntent): OpenIntent;
  /**
   * Appends the event to this turn's write and calls `written` right after write(2), before the turn's answers end:
   * the last byte of an answer leaves from there. With an error the event could not be kept. `opened` is what `begin`
   * gave for the call.
   */
  finish(record: UsageRecord, written: (error?: Error) => void, opened?: OpenIntent): void;
  /**
   * False while the spool can't take events, and at the start until what dead processes have left is counted; admission
   * then answers `service_unavailable`.
   */
  accepting(): boolean;
  /** Events not yet committed, and the age of the oldest in milliseconds. */
  backlog(): { events: number; oldestMs: number };
  /** Waits until everything recorded so far is committed, at most `timeoutMs`. */
  drain(timeoutMs: number): Promise<boolean>;
  /** Writes out, commits what it can and closes; the rest stays for the next start. */
  stop(): Promise<void>;
}
